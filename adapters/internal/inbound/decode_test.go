package inbound

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatehouse/core/strictjson"
)

type actor struct {
	ID   string `json:"id"`
	Team string
}

type Place struct {
	Channel string `json:"channel"`
	Kind    string `json:"kind"`
}

type deed struct {
	actor
	*Place
	Kind    string                      `json:"kind"`
	Who     *actor                      `json:"who"`
	All     []actor                     `json:"all"`
	Values  map[string]map[string]actor `json:"values"`
	Number  int64                       `json:"number,string"`
	Raw     json.RawMessage             `json:"raw"`
	At      *time.Time                  `json:"at"`
	On      []bool                      `json:"on"`
	Any     any                         `json:"any"`
	Skipped string                      `json:"-"`
}

func TestDecodeReadsExactNames(t *testing.T) {
	six := time.Date(2026, 11, 23, 18, 0, 0, 0, time.UTC)
	for text, want := range map[string]deed{
		`{"kind":"a","KIND":"b","Kind":"c"}`: {Kind: "a"},
		`{"KIND":"b"}`:                       {},
		`{"\u006bind":"a","x":1,"x":2,"X":{"kind":"b","kind":"c"}}`: {Kind: "a"},
		`{"\u212aind":"b","kind":"a","ſ":1}`:                        {Kind: "a"}, // the Kelvin sign folds to k
		`{"id":"1","ID":"2","Team":"t","team":"u"}`:                 {actor: actor{ID: "1", Team: "t"}},
		`{"who":{"id":"1","Id":"2"},"WHO":{"id":"3"}}`:              {Who: &actor{ID: "1"}},
		`{"who":null,"all":[{"id":"1","ID":"2"},{"iD":"3"}]}`:       {All: []actor{{ID: "1"}, {}}},
		`{"values":{"a":{"b":{"id":"1","ID":"2"}},"A":{}}}`: {Values: map[string]map[string]actor{"a": {"b": {ID: "1"}},
			"A": {}}},
		`{"number":"12","raw":{"id":1,"id":2},"Skipped":"x","-":"y"}`: {
			Number: 12, Raw: json.RawMessage(`{"id":1,"id":2}`),
		},
		"{\"kind\":\"a\\ud83d\xff\"}":                                  {Kind: "a\ufffd\ufffd"},
		`{"at":"2026-11-23T18:00:00Z","number":null,"on":[true,null]}`: {At: &six, On: []bool{true, false}},
		`{"channel":"c","kind":"a","Channel":"d"}`:                     {Place: &Place{Channel: "c"}, Kind: "a"},
		`null`: {},
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
		`["hush"]`:                            "the wrong form",
		`{"at":"hush"}`:                       "the field at has the wrong type",
		`{"who":{"Team":7},"number":" 7"}`:    "the field who.Team has the wrong type",
		strings.Repeat(`{"x":`, 600) + "hush": "invalid JSON",
	} {
		var got deed
		err := Decode([]byte(text), &got)
		if err == nil || JSONFault(err) != fault || got.Kind != "" {
			t.Errorf("%.60s: %+v, %v (%s), want %s", text, got, err, JSONFault(err), fault)
		}
	}
}

// What Decode reads is what encoding/json reads of the same text without the keys that are not exact, also where a type
// is wrong.
func TestDecodeReadsAsEncodingJSONDoes(t *testing.T) {
	values := rapid.SampledFrom([]string{
		`null`, `true`, `false`, `0`, `-12`, `1.5`, `1e99`, `""`, `"a"`, `"\u00e9\ud83d\ude00\ud83d\n"`, "\"é\xff\"",
		`"7"`, `" 7"`, `"null"`, `[]`, `[{}]`, `["a",null,{"id":"1"}]`,
		`{}`, `{"id":"1","Team":"t"}`, `{"id":["1"],"Team":"t"}`, `[{"id":2},{"Team":"t"}]`,
		`{"a":{"b":{"id":"1"},"c":null},"d":{}}`, `{"a":{"b":7},"c":"x"}`, ` [ 1 , {"x" : 2} ] `,
	})
	keys := []string{"kind", "who", "all", "values", "number", "raw", "id", "Team", "channel", "on", "any"}
	noise := []string{"KIND", "Who", "\u017fkipped", "Skipped", "ID", "TEAM", "x", "x"}
	rapid.Check(t, func(t *rapid.T) {
		var text, exact []string
		for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom(keys), rapid.ID).Draw(t, "keys") {
			member := `"` + key + `":` + values.Draw(t, key)
			text, exact = append(text, member), append(exact, member)
			if rapid.Bool().Draw(t, "noisy") {
				text = append(text, `"`+rapid.SampledFrom(noise).Draw(t, "noise")+`":`+values.Draw(t, "ignored"))
			}
		}
		var got, want deed
		err := Decode([]byte("{"+strings.Join(text, ",")+"}"), &got)
		wrong := json.Unmarshal([]byte("{"+strings.Join(exact, ",")+"}"), &want)
		var kind *json.UnmarshalTypeError
		ended := wrong != nil && !errors.As(wrong, &kind) // what followed was not read
		if !ended && !reflect.DeepEqual(got, want) || (err == nil) != (wrong == nil) {
			t.Fatalf("%s: %+v, %v, want %+v, %v", text, got, err, want, wrong)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`{"kind":"a","who":{"id":"1"},"all":[{"Team":"x"}],"number":"3","raw":[1]}`, `{"KIND":"b","kind":"\ud800"}`,
		`{"values":{"a":{"b":null}}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > strictjson.MaxDepth {
			return
		}
		var got deed
		err := Decode(data, &got)
		if err == nil && !json.Valid(data) {
			t.Fatalf("%q is decoded", data)
		}
		if err != nil && JSONFault(err) == "invalid JSON" && json.Valid(data) {
			t.Fatalf("%q: %v", data, err)
		}
		if kept := Redact(data, "kind"); !json.Valid(kept) ||
			json.Valid(data) == (string(kept) == "null") && strings.TrimSpace(string(data)) != "null" {
			t.Fatalf("%q without a key is %q", data, kept)
		}
	})
}

func TestWithoutLeavesOutSecretsAndNothingElse(t *testing.T) {
	for text, want := range map[string]string{
		`{"token":"s","a":1.50,"a":2,"b":{"TOKEN":{"x":["s"]},"c":["\ud83d",{"url":"s",` +
			`"d":null}]}}`: `{"a":1.50,"a":2,"b":{"c":["\ud83d",{"d":null}]}}`,
		`{"\u0074oken":"s","tokens":"<é>",` +
			`"token":"s"}`: `{"tokens":"<é>"}`,
		`[ {"token":1} , [] , "token" ]`: `[{},[],"token"]`,
		`{"token"`:                       `null`,
	} {
		if got := string(Redact([]byte(text), "token", "url")); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
