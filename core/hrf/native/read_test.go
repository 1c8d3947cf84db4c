package native_test

import (
	"errors"
	"strings"
	"testing"

	"gatehouse/core/hrf/native"
)

func TestReadGivesTheEnvelopeOfMessages(t *testing.T) {
	for _, c := range []struct{ text, want string }{ // want is the list of messages
		{"\n<|start|>\nsystem\n<|channel|>\nanalysis\n<|message|>\nBe " +
			"kind.\n<|end|>\n\n<|start|>user<|message|>Hi<|end|>",
			`{"role":"system","channel":"analysis","content":"Be kind."},{"role":"user","content":"Hi"}`},
		{`<|start|>assistant<|channel|>commentary to=functions.get_weather ` +
			`<|constrain|>json<|message|>{"city":"Oslo"}<|call|>`,
			`{"role":"assistant","channel":"commentary","recipient":"functions.get_weather","contentType":"json",` +
				`"termination":"call","content":{"city":"Oslo"}}`},
		{"<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>21°<|end|>",
			`{"role":"functions.get_weather","channel":"commentary","recipient":"assistant","content":"21°"}`},
		{"<|start|>to=a.b assistant <|channel|> to=a.b<|message|>x<|end|>", ""},
		{"<|start|>user<|channel|>to=a.b<|message|>x<|end|>", `{"role":"user","recipient":"a.b","content":"x"}`},
		// What a frame leaves out.
		{"<|start|>assistant<|message|>x<|end|>", `{"role":"assistant","channel":"final","content":"x"}`},
		{
			"<|start|>assistant<|channel|>commentary<|message|>[1.0]<|return|>",
			`{"role":"assistant","channel":"commentary","contentType":"json","termination":"return","content":[1.0]}`,
		},
		{`<|start|>assistant<|channel|>commentary<|message|> {"b": 1.50, "a": 1} <|end|>`,
			`{"role":"assistant","channel":"commentary","contentType":"json","termination":"end",` +
				`"content":{"b":1.50,"a":1}}`},
		{`<|start|>assistant<|channel|>commentary<|message|>{"steps":[]}<|end|>`,
			`{"role":"assistant","channel":"commentary","contentType":"harmony-script","termination":"end",` +
				`"content":{"steps":[]}}`},
		{
			"<|start|>assistant<|channel|>commentary<|message|>I look it up.<|end|>",
			`{"role":"assistant","channel":"commentary","termination":"end","content":"I look it up."}`,
		},
		{
			"<|start|>assistant<|channel|>commentary<|constrain|>text<|message|>{}<|call|>",
			`{"role":"assistant","channel":"commentary","termination":"call","content":"{}"}`,
		},
		{`<|start|>user<|message|>{"steps":[]}<|end|>`, `{"role":"user","content":"{\"steps\":[]}"}`},
		{
			"<|start|>system<|constrain|> harmony-script\n<|message|>{\"steps\":[]}<|end|>",
			`{"role":"system","contentType":"harmony-script","content":{"steps":[]}}`,
		},
		// What hrf.Parse judges.
		{
			"<|start|>developer<|constrain|>code<|message|>x<|end|>",
			`{"role":"developer","contentType":"code","content":"x"}`,
		},
		{
			"<|start|>assistant<|channel|>FINAL<|message|>x<|end|>",
			`{"role":"assistant","channel":"final","content":"x"}`,
		},
		// Bodies are kept, without the line breaks of the form.
		{
			"<|start|>user<|message|>\n a\n\n \\n <b> <|x|> \n<|end|>",
			`{"role":"user","content":" a\n\n \\n <b> <|x|> "}`,
		},
		{"<|start|>user<|message|>\r\na\r\n<|end|>\r\n", `{"role":"user","content":"a"}`},
		{"<|start|>user<|message|>a\r\n<|end|>", `{"role":"user","content":"a"}`},
		{"<|start|>user<|message|>\na\r\n<|end|>", `{"role":"user","content":"a"}`},
		{"<|start|>user<|message|>\n<|end|>", `{"role":"user","content":""}`},
		{"<|start|>user<|message|><|end|>", `{"role":"user","content":""}`},
	} {
		got, omitted, err := native.Read([]byte(c.text))
		if c.want == "" {
			if err == nil {
				t.Errorf("%q is %s", c.text, got)
			}
			continue
		}
		if want := `{"HRFVersion":"1.0","messages":[` + c.want + `]}`; err != nil || omitted != nil ||
			string(got) != want {
			t.Errorf("%q\nis   %s, %v, %v\nwant %s", c.text, got, omitted, err, want)
		}
	}
}

func TestWhatIsLeftOutIsNamed(t *testing.T) {
	for _, c := range []struct {
		text, want   string
		line, column int
		what         string
	}{
		{"Sure:\n<|start|>user<|message|>x<|end|>", `{"role":"user","content":"x"}`, 1, 1, "text outside of messages"},
		{
			"<|start|>user<|message|>x<|end|>\n é<|end|>\n", `{"role":"user","content":"x"}`, 2, 2,
			"text outside of messages",
		},
		{"hello", ``, 1, 1, "text outside of messages"},
		{
			"<|start|>user<|channel|>loud to=a.b<|message|>x<|end|>", `{"role":"user","recipient":"a.b","content":"x"}`,
			1, 25, "the unknown channel loud",
		},
		{
			"<|start|>assistant<|channel|>loud<|message|>x<|end|>",
			`{"role":"assistant","channel":"final","content":"x"}`, 1, 30, "counts as final",
		},
		{
			"<|start|>user<|channel|>final b<|message|>x<|end|>", `{"role":"user","channel":"final","content":"x"}`, 1,
			31, "b; the channel is one word",
		},
		{
			"<|start|>assistant<|message|>x<|return|>", `{"role":"assistant","channel":"final","content":"x"}`, 1, 31,
			"the termination return",
		},
		{"<|start|>user<|message|>x<|call|>", `{"role":"user","content":"x"}`, 1, 26, "the termination call"},
		{"<|start|>user<|message|>\n\nx\n<|end|>", `{"role":"user","content":"x"}`, 1, 25, "line breaks"},
		{"<|start|>user<|message|>x\r\n\r\n<|end|>", `{"role":"user","content":"x"}`, 1, 25, "line breaks"},
	} {
		got, omitted, err := native.Read([]byte(c.text))
		if want := `{"HRFVersion":"1.0","messages":[` + c.want + `]}`; err != nil || string(got) != want {
			t.Errorf("%q\nis   %s, %v\nwant %s", c.text, got, err, want)
		}
		if len(omitted) != 1 || omitted[0].Line != c.line || omitted[0].Column != c.column ||
			!strings.Contains(omitted[0].What, c.what) {
			t.Errorf("%q: %v; want line %d, column %d: %s", c.text, omitted, c.line, c.column, c.what)
		}
	}
}

func TestFaultsHaveAPosition(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
		reason       string
	}{
		{"", 1, 1, "there is no message"},
		{" \n ", 2, 2, "there is no message"},
		{"<|start|>", 1, 10, "expected <|channel|> or <|constrain|> or <|message|>, found the end of the text"},
		{"<|start|> <|message|>a<|end|>", 1, 10, "the role is missing"},
		{"<|start|>to=a<|message|>a<|end|>", 1, 10, "the role is missing"},
		{"<|start|>a b<|message|>a<|end|>", 1, 12, "unexpected b"},
		{"<|start|>user<|channel|> <|message|>a<|end|>", 1, 25, "the channel is missing"},
		{"<|start|>user to=a<|channel|>final to=c<|message|>a<|end|>", 1, 36, "unexpected to=c"},
		{"<|start|>user to=<|message|>a<|end|>", 1, 15, "unexpected to="},
		{"<|start|>us<|x|>er<|message|>a<|end|>", 1, 10, "unknown token us<|x|>er"},
		{"<|start|>user<|constrain|>\n<|message|>a<|end|>", 1, 27, "the type is missing"},
		{
			"<|start|>user<|constrain|>json<|channel|>final<|message|>1<|end|>", 1, 31,
			"expected <|message|>, found <|channel|>",
		},
		{"<|start|>user<|end|>", 1, 14, "expected <|channel|> or <|constrain|> or <|message|>, found <|end|>"},
		{
			"<|start|>user\n<|message|>a\n<|start|>user<|message|>b<|end|>", 3, 1,
			"expected <|end|> or <|call|> or <|return|>, found <|start|>",
		},
		{"<|start|>user<|message|>a<|message|>b<|end|>", 1, 26, "found <|message|>"},
		{"<|start|>user<|message|>a", 1, 26, "found the end of the text"},
		{"<|start|>user<|message|>a\xff<|end|>", 1, 26, "invalid UTF-8"},
		{
			"<|start|>assistant<|channel|>commentary to=a.b<|constrain|>json<|message|>{oops<|call|>", 1, 76,
			"expected a key in double quotes",
		},
		{"<|start|>system<|constrain|>json<|message|>\n{\"a\": 1,\n \"a\": 2}<|end|>", 3, 2, "a"},
		{"<|start|>assistant<|channel|>commentary<|message|>I call it.<|call|>", 1, 51, ""},
		{"<|start|>assistant<|channel|>commentary<|message|>{name}, hello<|end|>", 1, 52, ""},
		{"<|start|>system<|constrain|>json<|message|> \n <|end|>", 2, 2, ""},
	} {
		got, _, err := native.Read([]byte(c.text))
		var fault *native.SyntaxError
		if !errors.As(err, &fault) {
			t.Errorf("%q is %s", c.text, got)
			continue
		}
		if fault.Line != c.line || fault.Column != c.column || !strings.Contains(fault.Reason, c.reason) {
			t.Errorf("%q: %v; want line %d, column %d: %s", c.text, err, c.line, c.column, c.reason)
		}
	}
}
