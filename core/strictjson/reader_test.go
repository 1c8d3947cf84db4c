package strictjson_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"gatehouse/core/strictjson"
)

// read builds what Value.Any gives, with a Reader.
func read(r *strictjson.Reader) (v any, err error) {
	switch r.Kind() {
	case strictjson.Object:
		members := map[string]any{}
		err := r.Object(func(key []byte) (err error) {
			name := string(key)
			members[name], err = read(r)
			return err
		})
		return members, err
	case strictjson.Array:
		items := []any{}
		err := r.Array(func() error {
			item, err := read(r)
			items = append(items, item)
			return err
		})
		return items, err
	case strictjson.String:
		text, err := r.String()
		return string(text), err
	}
	raw, err := r.Skip()
	switch string(raw) {
	case "", "null":
		return nil, err
	case "true", "false":
		return string(raw) == "true", err
	}
	return json.Number(raw), err
}

// A Reader reads what Parse reads, and gives the same errors, whether values are read or skipped.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,2,{"b":null}],"a":true}`, `{"\u0061":"\ud83d\ude00\n","b":"é` + "\xff" + `"}`,
		` [ -0.1e+9 , [[]] , tru`, `{"a":{"b":[1,{"c":"\x"}]}}`, `{"a" 1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opts := range [][]strictjson.Option{nil, {strictjson.Replace}} {
			want, fault := strictjson.Parse(data, append(opts, strictjson.Repeats)...)
			r := strictjson.NewReader(data, opts...)
			got, err := read(r)
			if err == nil {
				err = r.End()
			}
			s := strictjson.NewReader(data, opts...)
			raw, skipped := s.Skip()
			if skipped == nil {
				skipped = s.End()
			}
			if !reflect.DeepEqual(err, fault) || !reflect.DeepEqual(skipped, fault) {
				t.Fatalf("%q: read %v, skipped %v, parsed %v", data, err, skipped, fault)
			}
			if fault == nil && (!reflect.DeepEqual(got, want.Any()) || string(raw) != string(want.Raw(data))) {
				t.Fatalf("%q: %#v, %s, want %#v, %s", data, got, raw, want.Any(), want.Raw(data))
			}
		}
	})
}

// What a Reader's caller takes for another kind is refused where it stands, and an error of its own ends the reading.
func TestReaderEndsAtTheFirstError(t *testing.T) {
	r := strictjson.NewReader([]byte("{\"a\": 1,\n \"b\": [true, 2]}"))
	err := r.Object(func(key []byte) error {
		if string(key) == "a" {
			_, err := r.Skip()
			return err
		}
		return r.Array(func() error {
			if r.Kind() == strictjson.Bool {
				_, err := r.Skip()
				return err
			}
			_, err := r.String()
			return err
		})
	})
	var fault *strictjson.Error
	if !errors.As(err, &fault) || fault.Pointer != "/b/1" || fault.Line != 2 || fault.Column != 14 {
		t.Errorf("%v at %+v", err, fault)
	}
	own := errors.New("enough")
	r = strictjson.NewReader([]byte(`[1,2,oops`))
	if err := r.Array(func() error { return own }); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
}
