package strictjson_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gatehouse/core/strictjson"
)

func TestRefused(t *testing.T) {
	for text, want := range map[string]strictjson.Error{
		``:                         {Code: strictjson.Syntax, Line: 1, Column: 1},
		`{"a":1,"a":2}`:            {Code: strictjson.DuplicateKey, Pointer: "/a", Line: 1, Column: 8},
		"{\"x\": [\n  1,\n  tru]}": {Code: strictjson.Syntax, Pointer: "/x/1", Line: 3, Column: 3},
		`{"a\u0062":1,"ab":2}`:     {Code: strictjson.DuplicateKey, Pointer: "/ab", Line: 1, Column: 14},
		`[1] 2`:                    {Code: strictjson.Trailing, Line: 1, Column: 5},
		`[01]`:                     {Code: strictjson.Syntax, Pointer: "", Line: 1, Column: 3},
		`[1,]`:                     {Code: strictjson.Syntax, Pointer: "/1", Line: 1, Column: 4},
		`{"a":}`:                   {Code: strictjson.Syntax, Pointer: "/a", Line: 1, Column: 6},
		`{a:1}`:                    {Code: strictjson.Syntax, Line: 1, Column: 2},
		`"\ud800"`:                 {Code: strictjson.Encoding, Line: 1, Column: 8},
		"\"\xff\"":                 {Code: strictjson.Encoding, Line: 1, Column: 2},
		"\"a\nb\"":                 {Code: strictjson.Syntax, Line: 1, Column: 3},
		`"\x"`:                     {Code: strictjson.Syntax, Line: 1, Column: 3},
		`NaN`:                      {Code: strictjson.Syntax, Line: 1, Column: 1},
		`{"a/b~c":[}`:              {Code: strictjson.Syntax, Pointer: "/a~1b~0c/0", Line: 1, Column: 11},
		strings.Repeat("[", 600):   {Code: strictjson.TooDeep, Line: 1, Column: 514},
	} {
		_, err := strictjson.Parse([]byte(text))
		var e *strictjson.Error
		if !errors.As(err, &e) {
			t.Errorf("%.30q: %v", text, err)
			continue
		}
		if e.Code != want.Code || e.Line != want.Line || e.Column != want.Column ||
			want.Code != strictjson.TooDeep && e.Pointer != want.Pointer {
			t.Errorf("%.30q: %s at %d:%d %q, want %s at %d:%d %q", text, e.Code, e.Line, e.Column, e.Pointer, want.Code,
				want.Line, want.Column, want.Pointer)
		}
	}
}

func TestRead(t *testing.T) {
	text := []byte("{\"n\": 1.50, \"s\": \"\\ud83d\\ude00\\/\",\n \"l\": [true, null, {}]}")
	v, err := strictjson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Get("n").Number.String(); got != "1.50" {
		t.Errorf("digits: %s", got)
	}
	if got := v.Get("s").String; got != "😀/" {
		t.Errorf("text: %q", got)
	}
	if l := v.Get("l"); l.Line != 2 || l.Column != 7 || string(l.Raw(text)) != "[true, null, {}]" {
		t.Errorf("place: %d:%d %s", l.Line, l.Column, l.Raw(text))
	}
	if v.Get("N") != nil || v.Get("l").Get("x") != nil {
		t.Error("a key was found that is not there")
	}
}

func TestRepeatsKeepsBoth(t *testing.T) {
	v, err := strictjson.Parse([]byte(`{"a":1,"b":{"x":1,"x":2},"a":2}`), strictjson.Repeats)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Members) != 3 || v.Get("a").Number != "1" || len(v.Get("b").Members) != 2 {
		t.Errorf("%+v", v.Members)
	}
	if got := v.Any().(map[string]any)["a"]; got != json.Number("2") {
		t.Errorf("the last stands, as everywhere: %v", got)
	}
}

// Replace reads every text that encoding/json reads, and the same.
func TestReplaceReadsTextsThatWereCut(t *testing.T) {
	for text, want := range map[string]string{
		`"a\ud83d"`:             "a\ufffd",
		`"a\ude00b"`:            "a\ufffdb",
		`"\ud83d\ud83d\ude00"`:  "\ufffd😀",
		`"\ud83d\u0041"`:        "\ufffdA",
		`"\ud83d\n"`:            "\ufffd\n",
		"\"a\xff\xfeb\"":        "a\ufffd\ufffdb",
		"\"\xf0\x9f\x98\"":      "\ufffd\ufffd\ufffd",
		`"\ud83d\ude00 \ufffd"`: "😀 \ufffd",
	} {
		var same string
		if err := json.Unmarshal([]byte(text), &same); err != nil || same != want {
			t.Fatalf("%s: encoding/json reads %q, %v", text, same, err)
		}
		v, err := strictjson.Parse([]byte(text), strictjson.Replace)
		if err != nil || v.String != want {
			t.Errorf("%s: %+v, %v, want %q", text, v, err, want)
		}
	}
	for _, text := range []string{`"\ud83d\u00"`, `"\ud83d\x"`, `{"a":1,"a":2}`} {
		if _, err := strictjson.Parse([]byte(text), strictjson.Replace); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,2,{"b":null}]}`, `"\ud83d\ude00"`, `-0.1e+9`, `[[[[]]]]`, "\xef\xbb\xbf{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := strictjson.Parse(data)
		if err != nil {
			return
		}
		if !json.Valid(data) {
			t.Fatalf("accepted what encoding/json refuses: %q", data)
		}
		var want any
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		if err := dec.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if got := v.Any(); !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: %#v, want %#v", data, got, want)
		}
	})
}

// Columns finds the bytes of a text where escapes stand for some of them.
func TestColumnsOfEscapedText(t *testing.T) {
	text := []byte(`{"k": "aé\n\ud83d\ude00b"}`)
	v, err := strictjson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	// a, the two bytes of é, the line break, the four bytes of the pair, b, the end
	got := v.Get("k").Columns(text, 0, 1, 2, 3, 4, 5, 7, 8, 9)
	if want := []int{8, 9, 9, 11, 13, 13, 13, 25, 26}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
