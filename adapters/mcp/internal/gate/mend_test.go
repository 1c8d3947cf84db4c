package gate

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What servers often get wrong is mended; all else comes in as it came.
func TestAnswersAreMended(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[{"type":"text","text":"<a & b>"}],"structuredContent":{"n":1.50}}`:              ``,
		`{"tools":[{"name":"a","description":"d","inputSchema":{"type":"object","properties":[]}}]}`: ``,
		`{"content":null}`:                       ``,
		`7`:                                      ``,
		`{"content":[{"type":"text","text":5}]}`: `{"content":[{"text":"5","type":"text"}]}`,
		`{"content":[{"type":"text","text":true},{"type":"text",` +
			`"text":null}]}`: `{"content":[{"text":"true","type":"text"},{"type":"text"}]}`,
		`{"content":["words",{"type":"text",` +
			`"text":"<a>"}]}`: `{"content":[{"type":"text","text":"<a>"}]}`,
		`{"content":[{"type":"tool_use","id":"x","input":{}},{"type":"text",` +
			`"text":"b"}]}`: `{"content":[{"text":"(a part of the type tool_use; it is not shown)","type":"text"},` +
			`{"type":"text","text":"b"}]}`,
		`{"content":[{"type":"json","text":"{}"},` +
			`{"type":7}]}`: `{"content":[{"text":"{}","type":"text"},{"text":"(a part of the type 7; it is not ` +
			`shown)","type":"text"}]}`,
		`{"content":[{"type":"resource","resource":{"uri":"a:",` +
			`"text":7}}]}`: `{"content":[{"resource":{"text":"7","uri":"a:"},"type":"resource"}]}`,
		`{"serverInfo":{"name":"s","version":1.2},` +
			`"protocolVersion":"x"}`: `{"protocolVersion":"x","serverInfo":{"name":"s","version":"1.2"}}`,
		`{"tools":[{"name":5,"title":{},"annotations":[],"icons":{},` +
			`"inputSchema":{}}]}`: `{"tools":[{"inputSchema":{},"name":"5"}]}`,
		`{"tools":[{"name":"a","annotations":{"readOnlyHint":"true","destructiveHint":true,` +
			`"title":1}}]}`: `{"tools":[{"annotations":{"destructiveHint":true,"title":"1"},"name":"a"}]}`,
	} {
		message := `{"jsonrpc":"2.0","id":1,"result":` + result + `}`
		if want != "" {
			want = `{"id":1,"jsonrpc":"2.0","result":` + want + `}`
		} else {
			want = message
		}
		g := New(context.Background(), garbageFunc(func(line []byte) { t.Errorf("garbage: %s", line) }))
		if diff := cmp.Diff(want, string(g.admit([]byte(message)))); diff != "" {
			t.Error(diff)
		}
	}
}

// A mended answer stays within the limit, and so does the number of its parts.
func TestAMendedAnswerStaysWithinTheLimit(t *testing.T) {
	g := New(context.Background(), nil)
	list := func(part string, n int) string {
		return `{"id":1,"result":{"content":[` + strings.Repeat(part+",", n-1) + part + `]}}`
	}
	if in := g.admit([]byte(list(`{"type":"text","text":"a"}`, 10_000))); strings.Count(string(in),
		`"text":"a"`) != maxParts {
		t.Errorf("%d parts come in", strings.Count(string(in), `"text":"a"`))
	}
	long := `{"type":"x","text":"` + strings.Repeat("<", 1_000) + `"}`
	if in := g.admit([]byte(list(long, 4_000))); len(in) > MaxMessage {
		t.Errorf("%d bytes come in", len(in))
	}
}

// An answer whose id is a text ends the connection and says why, by each transport.
func TestAnAnswerWithATextForItsIDEndsTheConnection(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":"1","result":{}}`
	for name, read := range map[string]func(io.ReadCloser, *Gate) io.ReadCloser{
		"lines": Lines, "body": Body, "events": func(in io.ReadCloser, g *Gate) io.ReadCloser { return Events(in, g) },
	} {
		text := answer + "\n"
		if name == "events" {
			text = "data: " + answer + "\n\n"
		}
		g := New(context.Background(), nil)
		in, _ := io.ReadAll(read(io.NopCloser(strings.NewReader(text)), g))
		if len(in) > 0 || g.Cause() == nil || !strings.Contains(g.Cause().Error(), `the id "1", a text`) {
			t.Errorf("%s: %q, %v", name, in, g.Cause())
		}
	}
}
