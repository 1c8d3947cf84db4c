package inbound

import (
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// Redact returns JSON without the members of these keys, in any case and at any depth. All else stays as it is
// written, but for white space. It is for secrets that a platform issues for one answer: nothing that is stored
// contains them. JSON that can't be read becomes null.
func Redact(data []byte, keys ...string) []byte {
	w := redactor{Reader: strictjson.NewReader(data, strictjson.Replace), keys: keys, kept: make([]byte, 0, len(data))}
	err := w.value()
	if err == nil {
		err = w.End()
	}
	if err != nil {
		return []byte("null")
	}
	return w.kept
}

// redactor is the state of Redact.
type redactor struct {
	*strictjson.Reader
	keys []string
	kept []byte
}

// value appends a value.
func (w *redactor) value() error {
	switch w.Kind() {
	case strictjson.Object:
		w.kept = append(w.kept, '{')
		err := w.Object(func(key []byte) error {
			if slices.ContainsFunc(w.keys, func(k string) bool { return strings.EqualFold(k, string(key)) }) {
				_, err := w.Skip()
				return err
			}
			w.comma('{')
			w.kept = append(strictjson.AppendString(w.kept, string(key)), ':')
			return w.value()
		})
		w.kept = append(w.kept, '}')
		return err
	case strictjson.Array:
		w.kept = append(w.kept, '[')
		err := w.Array(func() error {
			w.comma('[')
			return w.value()
		})
		w.kept = append(w.kept, ']')
		return err
	}
	raw, err := w.Skip()
	w.kept = append(w.kept, raw...)
	return err
}

// comma appends a comma unless what comes is the first.
func (w *redactor) comma(open byte) {
	if w.kept[len(w.kept)-1] != open {
		w.kept = append(w.kept, ',')
	}
}
