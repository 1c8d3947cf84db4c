package question_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core/question"
)

func ask(t *testing.T, schema string) question.Question {
	t.Helper()
	q, err := question.New("Which one?", json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

const form = `{"type":"object","properties":{
	"size":{"type":"string","enum":["s","m"],"enumNames":["Small","Medium"],"title":"Size"},
	"count":{"type":"integer","minimum":1,"maximum":9},
	"price":{"type":"number","maximum":10.5},
	"gift":{"type":"boolean","description":"Wrap it"},
	"note":{"type":"string","maxLength":5,"minLength":2}},"required":["size","count"],"additionalProperties":false}`

func TestAnswersThatFit(t *testing.T) {
	for schema, answers := range map[string]map[string]string{
		``:                   {`"blue"`: `"blue"`, ` "a\u00e4" `: `"aä"`},
		`{"type":"boolean"}`: {`true`: `true`, `false`: `false`},
		`{"type":"number"}`:  {`1.50`: `1.50`, `-3e2`: `-3e2`},
		`{"type":"integer"}`: {`4`: `4`, `4.0`: `4.0`},
		`{"enum":["a",2]}`:   {`"a"`: `"a"`, `2.0`: `2`},
		`{"oneOf":[{"const":"x","title":"An X"}]}`: {`"x"`: `"x"`},
		form: {
			`{"count":3,"size":"m"}`: `{"size":"m","count":3}`,
			`{"size":"s","count":9,"price":10.5,"gift":true,"note":null}`: `{"size":"s","count":9,"price":10.5,` +
				`"gift":true}`,
		},
	} {
		q := ask(t, schema)
		for answer, want := range answers {
			got, err := q.Check(json.RawMessage(answer))
			if err != nil || string(got) != want {
				t.Errorf("%s: %s gives %s, %v; want %s", schema, answer, got, err, want)
			}
		}
	}
}

func TestAnswersThatDoNotFit(t *testing.T) {
	for schema, answers := range map[string][]string{
		``: {
			`""`, `" "`, `1`, `null`, `{"a":1}`, `blue`, `"a" "b"`,
			`"` + strings.Repeat("x", question.MaxAnswer+1) + `"`,
		},
		`{"type":"boolean"}`: {`"true"`, `1`, `null`},
		`{"type":"number"}`:  {`"1"`, `1e999`, `1e-99999999`, `NaN`},
		`{"type":"integer"}`: {`4.5`, `1e-1`},
		`{"enum":["a",2]}`:   {`"b"`, `"2"`, `3`, `null`},
		form: {
			`{}`, `[]`, `{"size":"m"}`, `{"size":"x","count":3}`, `{"size":"m","count":0}`, `{"size":"m","count":10}`,
			`{"size":"m","count":3,"price":10.51}`,
			`{"size":"m","count":3,"more":1}`, `{"size":"m","count":3,"note":"x"}`,
			`{"size":"m","count":3,"note":"xxxxxx"}`, `{"size":null,"count":3}`, `{"size":"m","size":"s","count":3}`,
		},
	} {
		q := ask(t, schema)
		for _, answer := range answers {
			if got, err := q.Check(json.RawMessage(answer)); err == nil {
				t.Errorf("%s: %s is accepted as %s", schema, answer, got)
			}
		}
	}
}

func TestSchemasThatNobodyCouldAnswer(t *testing.T) {
	many := func(n int, entry string) string { return strings.TrimSuffix(strings.Repeat(entry+",", n), ",") }
	for _, schema := range []string{
		`{`, `[]`, `{}`, `{"type":"array"}`, `{"type":["string","null"]}`, `{"type":"string","pattern":"^a"}`,
		`{"type":"string","enum":[]}`, `{"enum":["a","a"]}`, `{"enum":[null]}`,
		`{"type":"integer","enum":[1.5]}`, `{"type":"string","enum":[1]}`, `{"enum":[" "]}`,
		`{"type":"string","minLength":5,"maxLength":4}`, `{"type":"string","maxLength":-1}`,
		`{"type":"number","minimum":3,"maximum":2}`, `{"type":"number","minimum":"1"}`, `{"type":"object"}`,
		`{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`,
		`{"type":"object","properties":{"` + strings.Repeat("a", 46) + `":{"type":"string"}}}`,
		`{"oneOf":[{"type":"string"}]}`, `{"enum":["a"],"oneOf":[{"const":"b","title":"B"}]}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":"a"}`,
		`{"enum":["` + strings.Repeat("a", 76) + `"]}`,
		`{"type":"object","properties":{` + many(11, `"a":{"type":"string"}`) + `}}`,
		`{"enum":[` + many(26, `1`) + `]}`, `{"type":"string","title":"` + strings.Repeat("a", 46) + `"}`,
	} {
		if q, err := question.New("Which one?", json.RawMessage(schema)); err == nil {
			t.Errorf("%s is accepted as %+v", schema, q)
		}
	}
	for _, text := range []string{"", " \n", strings.Repeat("x", question.MaxText+1)} {
		if _, err := question.New(text, nil); err == nil {
			t.Errorf("a question of %d characters is accepted", len(text))
		}
	}
}

func TestAFormIsFilledFromTexts(t *testing.T) {
	q := ask(t, form)
	typed := []string{q.Fields[0].Typed("medium"), " 3 ", "", q.Fields[3].Typed("y"), "abc"}
	got, err := q.Check(q.Fill(typed))
	if want := `{"size":"m","count":3,"gift":true,"note":"abc"}`; err != nil || string(got) != want {
		t.Errorf("it is %s, %v; want %s", got, err, want)
	}
	if got, want := q.Shown(got), "Size: Medium\ncount: 3\ngift: Yes\nnote: abc"; got != want {
		t.Errorf("it is shown as %q, want %q", got, want)
	}
	if _, err := q.Check(q.Fill([]string{"1", "three"})); err == nil ||
		!strings.Contains(err.Error(), "count: this must be a number") {
		t.Errorf("a word in place of a number gives %v", err)
	}
}

// TestTypedTitlesThatDifferInCase: what a person writes is the title that they wrote, where there is such a one.
func TestTypedTitlesThatDifferInCase(t *testing.T) {
	q, err := question.New("Which?", json.RawMessage(`{"enum":["Prod","prod"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"Prod": "1", "prod": "2", " prod ": "2", "PROD": "1"} {
		if got := q.Fields[0].Typed(text); got != want {
			t.Errorf("%q is choice %s, want %s", text, got, want)
		}
	}
}

func TestPressesAreAnswers(t *testing.T) {
	q := ask(t, `{"enum":["a",2]}`)
	answer, ok := q.Option(2)
	if _, none := q.Option(3); !ok || none || string(answer) != "2" || q.Shown(answer) != "2" {
		t.Errorf("the second is %s, %v; a third exists: %v", answer, ok, none)
	}
	if n := len(ask(t, `{"type":"boolean"}`).Options()); n != 2 {
		t.Errorf("yes or no has %d options", n)
	}
	if q := ask(t, form); q.Options() != nil {
		t.Error("a form has options")
	}
}

// What Check accepts it accepts again, unchanged: the stored answer is checked once more when it is used.
func TestPropertyCheckedAnswersStayAsTheyAre(t *testing.T) {
	q, err := question.New("?",
		json.RawMessage(
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"},"c":{"type":"boolean"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		answer, _ := json.Marshal(
			map[string]any{
				"a": rapid.String().Draw(t, "a"), "b": rapid.Float64Range(-1e200, 1e200).Draw(t, "b"),
				"c": rapid.Bool().Draw(t, "c"),
			})
		once, err := q.Check(answer)
		if err != nil {
			t.Skip(err)
		}
		if twice, err := q.Check(once); err != nil || string(twice) != string(once) {
			t.Fatalf("%s becomes %s, %v", once, twice, err)
		}
	})
}

// TestNumbersAreReadAsPeopleWriteThem: a browser gives out .5 and 05, which JSON does not have.
func TestNumbersAreReadAsPeopleWriteThem(t *testing.T) {
	q := ask(t, `{"type":"number"}`)
	for typed, want := range map[string]string{
		"+5": "5", " 05 ": "5", ".5": "0.5", "-.5": "-0.5", "5.": "5", "0": "0", "-0": "-0", "00": "0", "0.50": "0.50",
		"007.10": "7.10", "1e3": "1e3", "0e1": "0e1",
	} {
		if got, err := q.Check(q.Fill([]string{typed})); err != nil || string(got) != want {
			t.Errorf("%q is read as %s, %v; want %s", typed, got, err, want)
		}
	}
	for _, typed := range []string{"five", ".", "-", "+", "1,5", "--1", "+-1", "e5", "0x10", "1 2", "", "١"} {
		if got, err := q.Check(q.Fill([]string{typed})); err == nil {
			t.Errorf("%q is read as %s", typed, got)
		}
	}
}
