package proof_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/approvals/proof"
	"gatehouse/core"
)

// The examples of RFC 8785, sections 3.2.2 to 3.2.4 and appendix B, and what it says of texts.
func TestCanonicalIsThatOfTheRFC(t *testing.T) {
	for text, want := range map[string]string{
		"{\n \"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],\n \"string\": " +
			"\"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\n " +
			"\"literals\": [null, true, false]\n}": `{"literals":[null,true,false],` +
			`"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],` +
			`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One",` +
			`"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin ` +
			`Small Letter O With Diaeresis"}`: "{\"\\r\":\"Carriage Return\",\"1\":\"One\"," +
			"\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O " +
			"With Diaeresis\"," +
			"\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		"[0, -0, -0.0, 0e99999999999999999999]": "[0,0,0,0]",
		"[5e-324, -5e-324, 1.7976931348623157e+308, 9007199254740992, -9007199254740992, " +
			"295147905179352830000]": "[5e-324,-5e-324,1.7976931348623157e+308,9007199254740992,-9007199254740992," +
			"295147905179352830000]",
		"[9.999999999999997e22, 1e+23, 1.0000000000000001e+23, " +
			"999999999999999700000]": "[9.999999999999997e+22,1e+23," +
			"1.0000000000000001e+23,999999999999999700000]",
		"[1e21, 1e20, 0.000001, 1e-7, " +
			"0.0000009]": "[1e+21,100000000000000000000,0.000001,1e-7,9e-7]",
		`["<>&\u2028\u007f\b\t\n\f\r\u0000"]`: "[\"<>&\u2028\u007f\\b\\t\\n\\f\\r\\u0000\"]",
	} {
		got, err := proof.Canonical([]byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", text, got, err, want)
		}
	}
}

// A number that no float is stays as it was written, so that it differs from its neighbours.
func TestCanonicalDoesNotRound(t *testing.T) {
	for _, n := range []string{
		"9007199254740993", "-9007199254740993", "1e400", "1e-400", "1e-99999999999999999999", "3e-324",
		"9.007199254740993e15", "0.10000000000000000001", "9007199254740993.0", strings.Repeat("9", 400),
	} {
		if got, err := proof.Canonical([]byte(n)); err != nil || string(got) != n {
			t.Errorf("%s: %s, %v", n, got, err)
		}
	}
}

func TestCanonicalRefusesWhatIsNotOneValue(t *testing.T) {
	for _, text := range []string{
		"", "{", "{} {}", `{"a":1,"a":1}`, `{"a":1,"\u0061":2}`, "\"\xff\"", `"\ud800"`, "NaN",
		"01", strings.Repeat("[", 10000),
	} {
		if _, err := proof.Canonical([]byte(text)); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// Every layout of a value has one canonical form, which is a JSON text of the same value.
func TestCanonicalIsOneForEveryLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anyValue(3).Draw(t, "value")
		compact, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		indented, _ := json.MarshalIndent(value, "\t", "  ")
		first, err := proof.Canonical(compact)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{indented, first} {
			if again, err := proof.Canonical(text); err != nil || string(again) != string(first) {
				t.Fatalf("%s: %s, want %s (%v)", text, again, first, err)
			}
		}
		var read, want any
		if json.Unmarshal(first, &read) != nil || json.Unmarshal(compact, &want) != nil ||
			!reflect.DeepEqual(read, want) {
			t.Fatalf("%s is another value than %s", first, compact)
		}
	})
}

// Two integers have one form only if they are equal, however large.
func TestCanonicalTellsIntegersApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		m := n ^ 1<<rapid.IntRange(0, 63).Draw(t, "bit")
		a, _ := proof.Digest(fmt.Append(nil, n))
		b, _ := proof.Digest(fmt.Append(nil, m))
		if a == b {
			t.Fatalf("%d and %d have one digest", n, m)
		}
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	number := rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) }).AsAny()
	leaves := []*rapid.Generator[any]{number, rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil)}
	if depth == 0 {
		return rapid.OneOf(leaves...)
	}
	below := anyValue(depth - 1)
	return rapid.OneOf(
		append(leaves, rapid.SliceOfN(below, 0, 4).AsAny(), rapid.MapOfN(rapid.String(), below, 0, 4).AsAny())...)
}

// FuzzCanonical: what has a canonical form is that form's other layout, and its form is final.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1.50,-0,1e400],"a":"\u20ac"}`, "9007199254740993", "3e-324", "1e-9223372036854775808", `{"a":1,"a":1}`,
		"[", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := proof.Canonical(text)
		if err != nil {
			if core.CategoryOf(err) != core.Invalid {
				t.Fatal(err)
			}
			return
		}
		if again, err := proof.Canonical(first); err != nil || string(again) != string(first) {
			t.Fatalf("%q becomes %q and then %q (%v)", text, first, again, err)
		}
	})
}
