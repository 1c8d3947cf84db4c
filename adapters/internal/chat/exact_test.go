package chat

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

type actor struct {
	ID   string `json:"id"`
	Team string
}

type deed struct {
	actor
	Kind    string                      `json:"kind"`
	Who     *actor                      `json:"who"`
	All     []actor                     `json:"all"`
	Values  map[string]map[string]actor `json:"values"`
	Number  int64                       `json:"number,string"`
	Raw     json.RawMessage             `json:"raw"`
	Skipped string                      `json:"-"`
}

func TestDecodeReadsExactNames(t *testing.T) {
	for text, want := range map[string]deed{
		`{"kind":"a","KIND":"b","Kind":"c"}`: {Kind: "a"},
		`{"KIND":"b"}`:                       {},
		`{"\u006bind":"a","x":1,"x":2,"X":{"kind":"b","kind":"c"}}`:   {Kind: "a"},
		`{"\u212aind":"b","kind":"a","ſ":1}`:                          {Kind: "a"}, // the Kelvin sign folds to k
		`{"id":"1","ID":"2","Team":"t","team":"u"}`:                   {actor: actor{ID: "1", Team: "t"}},
		`{"who":{"id":"1","Id":"2"},"WHO":{"id":"3"}}`:                {Who: &actor{ID: "1"}},
		`{"who":null,"all":[{"id":"1","ID":"2"},{"iD":"3"}]}`:         {All: []actor{{ID: "1"}, {}}},
		`{"values":{"a":{"b":{"id":"1","ID":"2"}},"A":{}}}`:           {Values: map[string]map[string]actor{"a": {"b": {ID: "1"}}, "A": {}}},
		`{"number":"12","raw":{"id":1,"id":2},"Skipped":"x","-":"y"}`: {Number: 12, Raw: json.RawMessage(`{"id":1,"id":2}`)},
		"{\"kind\":\"a\\ud83d\xff\"}":                                 {Kind: "a\ufffd\ufffd"},
		`null`:                                                        {},
	} {
		var got deed
		if err := Decode([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestDecodeRefusesARepeatedField(t *testing.T) {
	for text, fault := range map[string]string{
		`{"kind":"a","kind":"a"}`:             `the key "kind" is repeated`,
		`{"kind":"a","\u006bind":"b"}`:        `the key "kind" is repeated`,
		`{"id":"1","id":"2"}`:                 `the key "id" is repeated`,
		`{"who":{"id":"1","id":"2"}}`:         `the key "id" is repeated`,
		`{"who":{"id":"1"},"who":{}}`:         `the key "who" is repeated`,
		`{"all":[{},{"Team":1,"Team":2}]}`:    `the key "Team" is repeated`,
		`{"values":{"a":{},"a":{}}}`:          `the key "a" is repeated`,
		`{"kind":["hush"]}`:                   "the field kind has the wrong type",
		`{"kind":"hush"`:                      "invalid JSON",
		`{"kind":"a"} hush`:                   "invalid JSON",
		strings.Repeat(`{"x":`, 600) + "hush": "invalid JSON",
	} {
		var got deed
		err := Decode([]byte(text), &got)
		if err == nil || JSONFault(err) != fault || got.Kind != "" {
			t.Errorf("%.60s: %+v, %v (%s), want %s", text, got, err, JSONFault(err), fault)
		}
	}
}

// What Decode reads is what encoding/json reads of the same text without the keys that are not exact.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"kind":"a","who":{"id":"1"},"all":[{"Team":"x"}],"number":"3","raw":[1]}`, `{"KIND":"b","kind":"\ud800"}`, `{"values":{"a":{"b":null}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var got, same deed
		if err := Decode(data, &got); err != nil {
			var repeated *repeatedKey
			if json.Unmarshal(data, &same) == nil && !errors.As(err, &repeated) && JSONFault(err) != "invalid JSON" {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is decoded", data)
		}
	})
}

func TestWithoutLeavesOutSecretsAndNothingElse(t *testing.T) {
	for text, want := range map[string]string{
		`{"token":"s","a":1.50,"a":2,"b":{"TOKEN":{"x":["s"]},"c":["\ud83d",{"url":"s","d":null}]}}`: `{"a":1.50,"a":2,"b":{"c":["\ud83d",{"d":null}]}}`,
		`{"\u0074oken":"s","tokens":"<é>","token":"s"}`:                                              `{"tokens":"<é>"}`,
		`[ {"token":1} , [] , "token" ]`:                                                             `[{},[],"token"]`,
		`{"token"`:                                                                                   `null`,
	} {
		if got := string(Without([]byte(text), "token", "url")); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
