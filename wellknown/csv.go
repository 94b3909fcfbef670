package wellknown

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lookleap/lookleap"
)

// Bounds on a registry file; IANA's has some 100 kB and 150 rows.
const (
	maxRegistryOctets = 4 << 20
	maxRegistryRows   = 20_000
)

// registryColumns are the columns of IANA's file in their order (section 5.1).
var registryColumns = []string{"URI Suffix", "Change Controller", "Reference", "Status", "Related Information", "Date Registered", "Date Modified"}

// LoadRegistry reads the registry in the CSV form that IANA publishes, as the
// state of the day date. It takes the place of the built-in table altogether: a
// name that is not in it is unknown, since provisional ones can vanish. How a
// name is used (media types, ports, further path) is not in the file and comes
// from the built-in table, whose unregistered names are kept as such.
//
// A file with other columns, a status that is neither permanent nor
// provisional, a bad or repeated name, or a row without a reference is an error
// that names the line; nothing is loaded then.
func LoadRegistry(file io.Reader, date time.Time) (*Registry, error) {
	limited := &io.LimitedReader{R: file, N: maxRegistryOctets + 1}
	rows := csv.NewReader(limited)
	rows.FieldsPerRecord = len(registryColumns)
	rows.ReuseRecord = true
	fail := func(reason string) error {
		line, _ := rows.FieldPos(0)
		return &Error{Code: CodeBadRegistry, Input: fmt.Sprintf("line %d", line), Reason: reason}
	}
	header, err := rows.Read()
	if err != nil {
		return nil, &Error{Code: CodeBadRegistry, Input: "line 1", Reason: err.Error()}
	}
	for i, name := range registryColumns {
		if got := strings.TrimPrefix(header[i], "\uFEFF"); got != name {
			return nil, fail(fmt.Sprintf("column %d is %q, not %q", i+1, got, name))
		}
	}
	known := Builtin()
	entries := make(map[string]Entry)
	for {
		row, err := rows.Read()
		if limited.N == 0 {
			return nil, &Error{Code: lookleap.CodeTooLarge, Input: "registry", Reason: "the file is larger than its limit"}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, &Error{Code: CodeBadRegistry, Input: "registry", Reason: err.Error()}
		}
		if len(entries) == maxRegistryRows {
			return nil, &Error{Code: lookleap.CodeTooLarge, Input: "registry", Reason: "the file has more rows than its limit"}
		}
		e := known.Lookup(strings.Clone(row[0]))
		e.Name = strings.Clone(row[0])
		e.Controller, e.Reference, e.Related = strings.Clone(row[1]), strings.Clone(row[2]), strings.Clone(row[4])
		if e.Status, err = ParseStatus(row[3]); err == nil {
			err = e.check()
		}
		if err != nil {
			return nil, atLine(rows, err)
		}
		if _, twice := entries[e.Name]; twice {
			return nil, fail("the name stands twice")
		}
		entries[e.Name] = e
	}
	list := make([]Entry, 0, len(entries))
	for _, e := range entries {
		list = append(list, e)
	}
	for _, e := range builtinEntries {
		if _, listed := entries[e.Name]; !listed && e.Status == Unregistered {
			list = append(list, e)
		}
	}
	return NewRegistry(date, list...)
}

// atLine adds the line of the current row to what is wrong with its entry.
func atLine(rows *csv.Reader, err error) error {
	var bad *Error
	if !errors.As(err, &bad) {
		return err
	}
	line, _ := rows.FieldPos(0)
	placed := *bad
	placed.Reason = fmt.Sprintf("line %d: %s", line, bad.Reason)
	return &placed
}
