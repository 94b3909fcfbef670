package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/internal/strictjson"
)

// Head identifies the content of a ledger up to an entry. A reader who keeps a head outside of
// the ledger can tell later whether an entry before it was changed. The zero Head is that of
// an empty ledger.
//
// The digest of entry n is the SHA-256 of a label, the digest of entry n-1, n in 8 bytes,
// and the SHA-256 of the entry as JSON without the members number and previous.
type Head struct {
	Number int64  `json:"number"` // of the last entry, from 1
	Digest string `json:"digest"` // of the last entry and all before it, in hexadecimal
}

const chainLabel = "lookleap disclosure ledger 1\n"

// extend numbers and chains entries that follow the head, and returns them with the next
// head.
func (h Head) extend(entries ...Entry) ([]Entry, Head, error) {
	chained := make([]Entry, len(entries))
	for i, e := range entries {
		e.Number, e.Previous = h.Number+1, h.Digest
		data, err := json.Marshal(e)
		if err == nil {
			err = strictjson.Decode(data, &chained[i]) // the digest is that of the entry as it is read again
		}
		if err != nil {
			return nil, Head{}, err
		}
		h = chained[i].Head()
	}
	return chained, h, nil
}

// Head returns the head of the ledger after this entry, zero for an entry that a ledger has
// not chained.
func (e Entry) Head() Head {
	if e.Number == 0 {
		return Head{}
	}
	label := chainLabel + e.Previous
	number := binary.BigEndian.AppendUint64(nil, uint64(e.Number))
	e.Number, e.Previous = 0, "" // the content is the entry without its place in the chain
	data, _ := json.Marshal(e)   // an Entry has only texts and times, and extend has marshalled it before
	content := sha256.Sum256(data)
	digest := sha256.Sum256(slices.Concat([]byte(label), number, content[:]))
	return Head{int64(binary.BigEndian.Uint64(number)), hex.EncodeToString(digest[:])}
}

// VerifyLedger verifies the entries of a ledger, such as those of [Ledger.Entries] or of an export of all,
// and returns their head. It returns an [*lookleap.Error] with
// [CodeLedgerBroken] if an entry between the two heads was changed, removed, inserted or
// moved, or the ledger ends before the second one.
//
// From is the head of the entries that were pruned, zero if there are none. To is a head
// that was kept outside of the ledger. Without one, the end of the ledger may be missing.
func VerifyLedger(entries iter.Seq2[Entry, error], from, to Head) (Head, error) {
	if entries == nil {
		return Head{}, errNoLedger
	}
	head := from
	reached := to == Head{} || to == from
	for e, err := range entries {
		if err != nil {
			return Head{}, err
		}
		if e.Number != head.Number+1 || e.Previous != head.Digest {
			return Head{}, broken(head.Number+1, "it does not follow the entry before it")
		}
		head = e.Head()
		if head.Number == to.Number {
			if head != to {
				return Head{}, broken(head.Number, "it does not have the digest of the head")
			}
			reached = true
		}
	}
	if !reached {
		return Head{}, broken(head.Number+1, "the ledger ends before the head")
	}
	return head, nil
}

func broken(number int64, why string) error {
	return &lookleap.Error{Code: CodeLedgerBroken, Subject: fmt.Sprintf("entry %d", number), Message: why,
		Fix: "restore the ledger from a copy, and find out who can write to it"}
}
