package sqlstore

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"gatehouse/core"
)

// asJSON is an argument that is stored as JSON text.
type asJSON struct{ v any }

// free is an argument that holds free text; what a database text can't hold is replaced. Keys are not treated so, since
// two of them could become equal.
type free string

// plain converts arguments to types that the drivers know.
func plain(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case asJSON:
			text, err := encode(a.v)
			if err != nil {
				return nil, err
			}
			out[i] = text
		case free:
			out[i] = clean(string(a))
		case time.Time:
			out[i] = nanoseconds(a)
		case time.Duration:
			out[i] = a.Nanoseconds()
		default:
			out[i] = a
		}
	}
	return out, nil
}

// clean replaces what a database text can't hold.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", core.Wrap(core.Internal, err, "A %T can't be stored.", v)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// fromJSON is a scan destination for JSON text.
type fromJSON struct{ v any }

// Scan decodes the JSON.
func (j fromJSON) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("decoding %T: a text is wanted, not %T", j.v, src)
	}
	if err := json.Unmarshal([]byte(text), j.v); err != nil {
		return fmt.Errorf("decoding %T: %w", j.v, err)
	}
	return nil
}

// sessionJSON is a scan destination for JSON that a conversation is made of: its session, its messages, its paused
// turns. Error: session_load_failed.
type sessionJSON struct{ v any }

// Scan decodes the JSON.
func (j sessionJSON) Scan(src any) error {
	if err := fromJSON(j).Scan(src); err != nil {
		return unreadable(err)
	}
	return nil
}

func unreadable(err error) error {
	return core.Wrap(core.SessionLoadFailed, err, "What is stored of this conversation can't be read.")
}

// lenient scans what can be decoded, and sets fault to the first error of JSON that can't: so that one broken row does
// not hide the others.
func lenient(scan func(...any) error, fault *error) func(...any) error {
	return func(destinations ...any) error {
		for i, d := range destinations {
			if j, ok := d.(fromJSON); ok {
				destinations[i] = maybeJSON{j, fault}
			}
		}
		return scan(destinations...)
	}
}

// maybeJSON is a scan destination for text that may be JSON.
type maybeJSON struct {
	sql.Scanner
	fault *error
}

// Scan decodes the JSON, or sets the fault.
func (j maybeJSON) Scan(src any) error {
	if err := j.Scanner.Scan(src); err != nil && *j.fault == nil {
		*j.fault = err
	}
	return nil
}

// latest is the latest time that can be stored; a later one means "never".
var latest = time.Unix(0, math.MaxInt64)

// nanoseconds returns the stored form of a time; 0 is the zero time.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.After(latest):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// timestamp is a scan destination for a stored time; null is the zero time, too.
type timestamp struct{ t *time.Time }

// Scan sets the time, in UTC.
func (s timestamp) Scan(src any) error {
	*s.t = time.Time{}
	switch n := src.(type) {
	case nil:
	case int64:
		if n != 0 {
			*s.t = time.Unix(0, n).UTC()
		}
	default:
		return fmt.Errorf("a time is stored as %T", src)
	}
	return nil
}

// Clock is a scan destination for Traits.Clock. It sets the transaction's Now if the database's clock is used.
type Clock struct{ Tx *Tx }

// Scan sets the transaction's Now, in UTC.
func (c Clock) Scan(src any) error {
	if n, ok := src.(int64); ok && n != 0 {
		c.Tx.Now = time.Unix(0, n).UTC()
	}
	return nil
}
