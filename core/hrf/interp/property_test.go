package interp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatehouse/core/hrf"
	"gatehouse/core/hrf/interp"
)

// TestAnInterruptedRunGoesOnAsIfItWereNot stores and reads the state at every effect of random scripts, and compares
// with a run whose state stays in memory: the same effects, the same end.
func TestAnInterruptedRunGoesOnAsIfItWereNot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawEnvelope(t)
		input := drawObject(t, 2)
		first, second := parse(t, text), parse(t, text)
		kept, stored := first.Start(input), second.Start(input)
		result := interp.Result{}
		for {
			before := encode(t, kept)
			after, effect := next(t, first, kept, result)
			if now := encode(t, kept); now != before {
				t.Fatalf("Next changed the state that it was given:\n%s\n%s", before, now)
			}
			kept = after

			var read interp.State
			if err := json.Unmarshal([]byte(encode(t, stored.Trimmed())), &read); err != nil {
				t.Fatal(err)
			}
			var same interp.Effect
			stored, same = next(t, second, read, result)
			if d := gocmp.Diff(effect, same); d != "" {
				t.Fatalf("another effect, - kept + stored:\n%s", d)
			}
			if a, b := encode(t, kept.Trimmed()), encode(t, stored.Trimmed()); a != b {
				t.Fatalf("another state:\n%s\n%s", a, b)
			}
			switch effect.(type) {
			case interp.CallTool:
				result = interp.Result{Value: drawResult(t)}
			case interp.AskModel:
				result = interp.Result{Value: rapid.SampledFrom([]string{"reply", "", ".", "broken \xff"}).Draw(t,
					"reply")}
			default:
				return
			}
			if rapid.IntRange(0, 15).Draw(t, "fails") == 0 {
				result = interp.Result{Err: "it failed"}
			}
		}
	})
}

func parse(t *rapid.T, text string) *interp.Program {
	e, report := hrf.Parse([]byte(text), hrf.Strict)
	if fault := report.Err(); fault != nil {
		t.Fatalf("%s\n%v", text, fault)
	}
	return &interp.Program{
		Envelope: e,
		Catalog: tools(func(string) (json.RawMessage, bool) {
			return json.RawMessage(`{"properties":{"list":{"type":"array","items":{"type":"string"}}}}`), true
		}),
	}
}

func encode(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// drawEnvelope draws an envelope with a script, messages that are shown to the model, and markers.
func drawEnvelope(t *rapid.T) string {
	messages := []string{
		`{"role":"system","contentType":"harmony-script","content":{"vars":` + encode(t, drawObject(t, 2)) +
			`,"steps":[` + drawSteps(t, 3, 1) + `]}}`,
	}
	for range rapid.IntRange(0, 4).Draw(t, "messages") {
		messages = append(messages, rapid.SampledFrom([]string{
			`{"role":"system","content":"Be brief."}`,
			`{"role":"user","content":"Hello"}`,
			`{"role":"assistant","channel":"commentary","recipient":"m.one","contentType":"json",` +
				`"content":{"list":"a, b"},"termination":"call"}`,
			`{"role":"assistant","channel":"commentary","recipient":"m.two","content":"text","termination":"call"}`,
			`{"role":"assistant","channel":"final","content":"x","termination":"end"}`,
			`{"role":"assistant","channel":"final","content":"x","termination":"return"}`,
		}).Draw(t, "message"))
	}
	return `{"HRFVersion":"1.0","messages":[` + strings.Join(messages, ",") + `]}`
}

func drawSteps(t *rapid.T, depth, least int) string {
	var steps []string
	for range rapid.IntRange(least, 4).Draw(t, "steps") {
		name, ref := drawName(t), drawRef(t)
		kinds := []string{
			fmt.Sprintf(`{"type":"extract-input","output":{%q:%q,"x":"$vars.%s"}}`, name, ref, name),
			fmt.Sprintf(
				`{"type":"tool-call","recipient":"t.f","channel":"commentary","args":{"n":1.50,"in":[{"deep":%q}],`+
					`"list":%q},"save_as":%q}`,
				ref, drawRef(t), name),
			fmt.Sprintf(`{"type":"assistant-message","channel":"analysis","content_template":"think {{vars.%s}}"}`,
				name),
			fmt.Sprintf(`{"type":"assistant-message","channel":"final","content_template":"{{vars.%s}}"}`, name),
			`{"type":"assistant-message","channel":"final","content":"."}`,
			`{"type":"halt"}`,
		}
		kind := rapid.IntRange(0, len(kinds)+1).Draw(t, "kind")
		if kind < len(kinds) {
			steps = append(steps, kinds[kind])
		} else if depth > 0 {
			condition := ref + rapid.SampledFrom([]string{"", " == 1", " < 2", " != 'a'"}).Draw(t, "comparison")
			steps = append(steps,
				fmt.Sprintf(`{"type":"if","condition":%q,"then":[%s],"else":[%s]}`, condition, drawSteps(t, depth-1, 0),
					drawSteps(t, depth-1, 0)))
		}
	}
	if len(steps) < least {
		steps = append(steps, say)
	}
	return strings.Join(steps, ",")
}

func drawName(t *rapid.T) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name") }

func drawRef(t *rapid.T) string {
	return fmt.Sprintf(
		rapid.SampledFrom(
			[]string{
				"$vars.%s", "$input.%s", "$vars.%s.a", "$vars.%s[0]", "$len($vars.%s)", "$map($input.%s, 'a')",
			}).Draw(t, "reference"), drawName(t))
}

// drawResult draws what a tool may give: JSON as it was read, or any value of Go that is JSON.
func drawResult(t *rapid.T) any {
	if rapid.Bool().Draw(t, "read") {
		return drawValue(t, 3)
	}
	return rapid.SampledFrom(
		[]any{
			json.RawMessage(`{"a":1.0,"b":[1e400]}`), 7, 0.1, []string{"a", "b"}, struct{ A int }{1},
			"half \xe2\x82", map[string]int{"a": 1},
		}).Draw(t, "value")
}

func drawObject(t *rapid.T, depth int) map[string]any {
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		object[drawName(t)] = drawValue(t, depth-1)
	}
	return object
}

func drawValue(t *rapid.T, depth int) any {
	switch kind := rapid.IntRange(0, 6).Draw(t, "value"); {
	case kind == 0 && depth > 0:
		return drawObject(t, depth)
	case kind == 1 && depth > 0:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, drawValue(t, depth-1))
		}
		return list
	case kind == 2:
		return json.Number(
			rapid.SampledFrom([]string{"0", "1", "-0", "1.0", "2.50", "1e400", "12345678901234567890", "0.1"}).Draw(t,
				"number"))
	case kind == 3:
		return rapid.Bool().Draw(t, "bool")
	case kind == 4:
		return nil
	}
	return rapid.SampledFrom(
		[]string{"", " ", ".", "a", "1", "x, y", "{{vars.a}}", "$vars.a", "<b>&", "é\u2028\x00"}).Draw(t, "text")
}
