package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
	"github.com/lookleap/lookleap/aiuri"
	"github.com/lookleap/lookleap/contrib/hostflags"
	"github.com/lookleap/lookleap/contrib/receipt"
	"github.com/lookleap/lookleap/internal/filestore"
)

// receiptLog returns the log of receipts in the store of a proxy. Its key is made at the first use, and is
// a record of the store that only the user can read. The public key is in the file receipts.jwks.
func (o *proxyOptions) receiptLog(ctx context.Context, store lookleap.Store) (*receipt.Log, error) {
	seed, err := storedKey(ctx, store, "mcp-proxy/receipt-key")
	if err != nil {
		return nil, err
	}
	if len(seed) != ed25519.SeedSize {
		return nil, damagedKey(o.state, "the key that signs receipts is damaged")
	}
	private := ed25519.NewKeyFromSeed(seed)
	public, _ := private.Public().(ed25519.PublicKey)
	id := strings.TrimPrefix(lookleap.Digest(public), "sha256:")[:16]
	ring, err := aiuri.NewKeyRing(aiuri.SigningKey{ID: id, Private: private}, aiuri.KeyRingOptions{})
	if err != nil {
		return nil, err
	}
	file, text := filepath.Join(o.state, "receipts.jwks"), append(ring.JWKS(), '\n')
	old, err := filestore.ReadFile(file, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = text, filestore.Replace(file, file+"."+rand.Text(), text)
	}
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(old, text) { // a public key that is replaced would leave receipts that no one can verify
		return nil, damagedKey(file, "the key that signs receipts is not the one of this file")
	}
	return receipt.NewLog(store, ring), nil
}

func damagedKey(subject, message string) error {
	return &lookleap.Error{Code: lookleap.CodeIO, Subject: subject, Message: message,
		Fix: "restore the state directory from a copy, or use another one with --state"}
}

// storedKey returns a key of a store, which it makes at the first use. Several processes get the same one.
func storedKey(ctx context.Context, store lookleap.Store, name string) (key []byte, err error) {
	err = lookleap.UpdateRecord(ctx, store, name, time.Time{}, func(old []byte) ([]byte, error) {
		if key = old; len(old) > 0 {
			return nil, nil
		}
		key = lookleap.NewKey()
		return key, nil
	})
	return key, err
}

// printReceipts prints the receipts of a proxy in order, one a line.
func (o *proxyOptions) printReceipts(ctx context.Context, stdout, stderr io.Writer) error {
	store, err := hostflags.OpenStore(filepath.Join(o.state, "store"))
	if err != nil {
		return err
	}
	defer store.Close()
	log, err := o.receiptLog(ctx, store)
	if err != nil {
		return err
	}
	for jws, err := range log.All(ctx) {
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(stdout, jws); err != nil {
			return err
		}
	}
	fmt.Fprintln(stderr, "lookleap-mcp proxy: the public key is in", filepath.Join(o.state, "receipts.jwks"))
	return nil
}

// maxRecord is the size in bytes above which a start begins another record of calls.
const maxRecord = 16 << 20

// openRecord opens the record of calls to append to it. A large one replaces the one before it.
func openRecord(file string) (*os.File, error) {
	if info, err := os.Stat(file); err == nil && info.Size() > maxRecord {
		if err := os.Rename(file, file+".1"); err != nil && !errors.Is(err, fs.ErrNotExist) { // another process may be faster
			return nil, err
		}
	}
	return os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
}
