package native

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core/hrf"
	"gatehouse/core/strictjson"
)

// pieces are parts of texts that could be mistaken for the form.
var pieces = rapid.SampledFrom(
	append(
		[]string{
			"\n", "\r\n", "\r", " ", "{", "}", `{"steps":[]}`, "a", "é", "<", "|", "<|", "|>", "<|x|>", "\\n", "\"",
			"to=", "json", "commentary", "assistant", "1",
		}, tokens...))

func drawText(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(pieces, 0, 6).Draw(t, label), "")
}

// drawMessage draws a valid message.
func drawMessage(t *rapid.T) hrf.Message {
	pick := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
	m := hrf.Message{Role: pick("role", hrf.System, hrf.User, hrf.Assistant, hrf.Assistant, hrf.Functions)}
	if m.Role == hrf.Functions {
		m.Role += "f" + drawText(t, "function")
	}
	m.Channel = pick("channel", hrf.Analysis, hrf.Commentary, hrf.Final)
	if m.Role == hrf.Assistant {
		m.Termination = pick("termination", "", hrf.End, hrf.Call, hrf.Return)
	} else if rapid.Bool().Draw(t, "no channel") {
		m.Channel = ""
	}
	m.Recipient = pick("recipient", "", "", "a.b", "r"+drawText(t, "odd recipient"))
	m.ContentType = pick("contentType", "", hrf.JSONContent, hrf.ScriptType)
	text := drawText(t, "text")
	m.Content = &strictjson.Value{Kind: strictjson.String, String: text}
	quoted, err := json.Marshal(text)
	switch {
	case err != nil:
		t.Fatal(err)
	case m.ContentType == hrf.JSONContent:
		m.Content = parse(t,
			pick("json", string(quoted), "null", "-1.50e+3", "["+string(quoted)+",{}]",
				`{"b":1,`+string(quoted)+":true}"))
	case m.ContentType == hrf.ScriptType:
		m.Content = parse(t, `{"steps":[{"type":"assistant-message","channel":"final","content":`+string(quoted)+`}]}`)
	}
	return m
}

func parse(t *rapid.T, text string) *strictjson.Value {
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestPropertyAnEnvelopeSurvivesOrIsRefusedRightly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := hrf.Encode(
			&hrf.Envelope{
				Version:  rapid.SampledFrom([]string{version, version, "2"}).Draw(t, "version"),
				Messages: rapid.SliceOfN(rapid.Custom(drawMessage), 1, 3).Draw(t, "messages"),
			})
		e, report := hrf.Parse(drawn, hrf.Strict)
		if !report.Valid() || string(hrf.Encode(e)) != string(drawn) {
			t.Fatalf("%s: %v", drawn, report.Errors)
		}
		text, err := Write(e)
		if survives := err == nil; survives != held(e) {
			t.Fatalf("%s: %v", hrf.Encode(e), err)
		}
		if err == nil {
			if got, omitted, err := Read(text); err != nil || omitted != nil || string(got) != string(hrf.Encode(e)) {
				t.Fatalf("%s\nbecomes %s\nthen    %s, %v, %v", hrf.Encode(e), text, got, omitted, err)
			}
		}
		for i, m := range e.Messages { // each message for itself: no loss is named that is none
			one := &hrf.Envelope{Version: version, Messages: []hrf.Message{m}}
			if _, err := Write(one); (err == nil) != held(one) {
				t.Fatalf("message %d of %s: %v", i, hrf.Encode(e), err)
			}
		}
	})
}

// held reports whether an envelope is read as it was written, whatever Write says.
func held(e *hrf.Envelope) bool {
	got, _, err := Read(render(e))
	return err == nil && string(got) == string(hrf.Encode(e))
}

func TestPropertyAnyTextIsAnEnvelopeOrAtFault(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return start + drawText(t, "head") + message + drawText(t, "body") + end
		}), 0, 3).Draw(t, "frames")
		check(t, strings.Join(frames, "\n"))
	})
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"<|start|>user<|message|>Hi<|end|>",
		"<|start|>assistant<|channel|>commentary to=a.b<|constrain|>json<|message|>{\"a\":1}<|call|>",
		"<|start|>a to=b<|message|>\n{<|return|>\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { check(t, text) })
}

// check reads a text: it is at fault at a place of its own, or gives an envelope, which the form can hold if it is
// valid.
func check(t interface{ Fatalf(string, ...any) }, text string) {
	got, _, err := Read([]byte(text))
	var fault *SyntaxError
	if err != nil {
		if !errors.As(err, &fault) || fault.Line > strings.Count(text, "\n")+1 || fault.Column < 1 ||
			fault.Column > len(text)+1 {
			t.Fatalf("%q: %v", text, err)
		}
		return
	}
	e, _ := hrf.Parse(got, hrf.Compat)
	if e == nil {
		return
	}
	written, err := Write(e)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if again, omitted, err := Read(written); err != nil || omitted != nil || string(again) != string(got) {
		t.Fatalf("%q is %s\nthen %s, %v, %v", text, got, again, omitted, err)
	}
}
