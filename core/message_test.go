package core_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestMessageJSONRoundTrip(t *testing.T) {
	for name, text := range map[string]string{
		"text": `{"role":"user","content":"Grüße 👋 <b>&amp;</b>"}`,
		"blocks in order": `{"role":"assistant","content":[{"type":"thinking","text":"hm",` +
			`"signature":"EqQBCkgIAhABGAIiQL=="},{"type":"redacted_thinking","data":"EmwKAhgB+/=="},` +
			`{"type":"text","text":"yes","signature":"s1"}]}`,
		"image by url": `{"role":"user","content":[{"type":"image","source":{"type":"url",` +
			`"url":"https://example.org/a.png"},"detail":"low"}]}`,
		"inline image": `{"role":"user","content":[{"type":"image","source":{"type":"inline",` +
			`"base64_data":"iVBORw0="},"media_type":"image/png"}]}`,
		"stored image": `{"role":"user","content":[{"type":"image","source":{"type":"stored",` +
			`"digest":"sha256:abababababababababababababababababababababababababababababababab","size":5242880},` +
			`"media_type":"image/png"}]}`,
		"calls alone": `{"role":"assistant","tool_calls":[{"id":"c 1","name":"demo.calc",` +
			`"arguments":{"n":1.50,"big":12345678901234567890}}]}`,
		"null arguments": `{"role":"assistant","tool_calls":[{"id":"c1","name":"demo.calc","arguments":null,` +
			`"signature":"x"}]}`,
		"tool result": `{"role":"tool","content":"4","tool_call_id":"c 1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			var m core.Message
			if err := json.Unmarshal([]byte(text), &m); err != nil {
				t.Fatal(err)
			}
			if err := m.Validate(); err != nil {
				t.Fatalf("Validate: %v", err)
			}
			again, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(json.RawMessage(again)); err != nil {
				t.Fatal(err)
			}
			got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`,
				"&").Replace(strings.TrimSpace(b.String()))
			if got != text {
				t.Errorf("round trip:\n got %s\nwant %s", got, text)
			}
		})
	}
}

func TestMalformedMessagesAreKeptForValidate(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                                         "needs a role",
		`{"role":"moderator","content":"x"}`:                         "unknown role",
		`{"Role":"user","content":"x"}`:                              "needs a role",
		`{"role":7,"content":"x"}`:                                   "role must be a text",
		`{"role":"user"}`:                                            "must not be empty",
		`{"role":"user","content":""}`:                               "must not be empty",
		`{"role":"user","content":[]}`:                               "must not be empty",
		`{"role":"user","content":42}`:                               "content must be a text or a list",
		`{"role":"user","content":["x"]}`:                            "a block must be an object",
		`{"role":"user","content":[{"type":"video","url":"x"}]}`:     `"video" is not allowed`,
		`{"role":"user","content":[{"type":"thinking","text":"x"}]}`: `"thinking" is not allowed`,
		`{"role":"user","content":[{"type":"text"}]}`:                "needs a text",
		`{"role":"user","content":[{"type":"image"}]}`:               "needs a source",
		`{"role":"user","content":[{"type":"image","source":{"type":"inline","base64_data":"aGk="}}]}`: "media_type",
		`{"role":"user","content":[{"type":"image","source":{"type":"inline","base64_data":"!"},` +
			`"media_type":"image/png"}]}`: "not base64",
		`{"role":"user","content":[{"type":"image","source":{"type":"stored","size":3},` +
			`"media_type":"image/png"}]}`: "needs a digest",
		`{"role":"user","content":[{"type":"image","source":{"type":"stored","digest":"sha256:ABCD","size":3},` +
			`"media_type":"image/png"}]}`: "needs a digest",
		`{"role":"user","content":[{"type":"image","source":{"type":"stored",` +
			`"digest":"sha256:abababababababababababababababababababababababababababababababab"},` +
			`"media_type":"image/png"}]}`: "needs a size",
		`{"role":"user","content":[{"type":"image","source":{"type":"stored",` +
			`"digest":"sha256:abababababababababababababababababababababababababababababababab","size":1.5},` +
			`"media_type":"image/png"}]}`: "whole number",
		`{"role":"user","content":[{"type":"image","source":{"type":"stored",` +
			`"digest":"sha256:abababababababababababababababababababababababababababababababab",` +
			`"size":3}}]}`: "media_type",
		`{"role":"user","content":[{"type":"image","source":{"type":"url","url":"u"},"detail":"huge"}]}`: "detail",
		`{"role":"user","content":"x","tool_calls":[{"id":"a","name":"b",` +
			`"arguments":{}}]}`: "only an assistant",
		`{"role":"user","content":"x",` +
			`"tool_call_id":"a"}`: "only a tool message",
		`{"role":"assistant"}`: "needs content or tool_calls",
		`{"role":"assistant","content":[{"type":"image","source":{"type":"url","url":"u"}}]}`: `"image" is not allowed`,
		`{"role":"assistant","tool_calls":[{"id":"","name":"b","arguments":{}}]}`:             "needs an id and a name",
		`{"role":"assistant","tool_calls":[{"id":"a","name":"b",` +
			`"arguments":"{}"}]}`: "arguments must be an object",
		`{"role":"assistant","tool_calls":{}}`:                                      "tool_calls must be a list",
		`{"role":"tool","content":"x"}`:                                             "needs a tool_call_id",
		`{"role":"tool","content":[{"type":"text","text":"x"}],"tool_call_id":"a"}`: "must be a text",
		`{"role":"system","content":[{"type":"text",` +
			`"text":"x"}]}`: "system message needs a text",
		`[]`: "a message must be an object",
	} {
		var m core.Message
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Errorf("%s: the decoder refused it: %v", text, err)
			continue
		}
		err := m.Validate()
		if got := core.CategoryOf(err); got != core.ChatMessageShapeInvalid {
			t.Errorf("%s: category %q, want %q", text, got, core.ChatMessageShapeInvalid)
		}
		if !strings.Contains(core.MessageOf(err), want) {
			t.Errorf("%s: says %q, want %q in it", text, core.MessageOf(err), want)
		}
	}
}

func TestOpenCallsPairsByPositionThenID(t *testing.T) {
	call := func(ids ...string) core.Message {
		m := core.Message{Role: core.Assistant}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, core.ToolCall{ID: id, Name: "t"})
		}
		return m
	}
	result := func(id string) core.Message { return core.Message{Role: core.ToolRole, ToolCallID: id} }
	for name, c := range map[string]struct {
		msgs []core.Message
		want int
	}{
		"none":                   {nil, 0},
		"answered":               {[]core.Message{call("a"), result("a")}, 0},
		"one of two":             {[]core.Message{call("a", "b"), result("b")}, 1},
		"an id used again":       {[]core.Message{call("a"), result("a"), call("a")}, 1},
		"both uses answered":     {[]core.Message{call("a"), result("a"), call("a"), result("a")}, 0},
		"twice in one message":   {[]core.Message{call("a", "a"), result("a")}, 1},
		"a result before a call": {[]core.Message{result("a"), call("a")}, 1},
	} {
		if got := len(core.OpenCalls(c.msgs)); got != c.want {
			t.Errorf("%s: %d open, want %d", name, got, c.want)
		}
	}
}

func TestOpenCallsAnswersTheFirstOfItsMessage(t *testing.T) {
	open := core.OpenCalls([]core.Message{
		{Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "a", Name: "one"}, {ID: "a", Name: "two"}}},
		{Role: core.ToolRole, ToolCallID: "a"},
	})
	if len(open) != 1 || open[0].Name != "two" {
		t.Errorf("open: %+v", open)
	}
}

func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":[{"type":"text","text":"x"}]}`))
	f.Add([]byte(`{"role":"assistant","tool_calls":[{"id":"a","name":"b","arguments":{"x":[1,2]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m core.Message
		if json.Unmarshal(data, &m) != nil || m.Validate() != nil {
			return
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatalf("a valid message can't be written: %v", err)
		}
		var again core.Message
		if err := json.Unmarshal(text, &again); err != nil || again.Validate() != nil {
			t.Fatalf("what was written is not valid: %s: %v, %v", text, err, again.Validate())
		}
		second, _ := json.Marshal(again)
		if string(second) != string(text) {
			t.Fatalf("not stable:\n%s\n%s", text, second)
		}
	})
}

func TestStoredImagesAreLoadedForAProvider(t *testing.T) {
	ctx := t.Context()
	stored := map[string][]byte{core.Digest([]byte("cat")): []byte("cat"), core.Digest([]byte("dog")): []byte("dog")}
	load := func(_ context.Context, digest string) ([]byte, error) {
		if data, ok := stored[digest]; ok {
			return data, nil
		}
		return nil, core.Errorf(core.NotFound, "no")
	}
	cat, dog := core.StoredImage("image/png", core.Digest([]byte("cat")), 3),
		core.StoredImage("image/gif", core.Digest([]byte("dog")), 3)
	m := core.Message{
		Role: core.User, Content: core.Blocks(cat, core.Block{Type: core.TextBlock, Text: "look"}, dog, cat),
	}
	if got := m.StoredImages(); !slices.Equal(got, []string{cat.Source.Digest, dog.Source.Digest}) {
		t.Errorf("its images are %q", got)
	}
	full, err := m.WithImages(ctx, load)
	if err != nil || full.Validate() != nil {
		t.Fatal(err, full.Validate())
	}
	b := full.Content.Blocks()
	if len(b) != 4 || b[0].Source.Base64Data != "Y2F0" || b[0].MediaType != "image/png" || b[1].Text != "look" ||
		b[2].Source.Base64Data != "ZG9n" || b[3].Source.Base64Data != "Y2F0" {
		t.Errorf("got %+v", b)
	}
	if again := m.Content.Blocks(); again[0].Source.Type != core.SourceStored {
		t.Error("the message itself was changed")
	}
	delete(stored, dog.Source.Digest)
	if _, err := m.WithImages(ctx, load); core.CategoryOf(err) != core.NotFound {
		t.Errorf("without an image: %v", err)
	}
	text := core.Message{Role: core.User, Content: core.Text("hello")}
	if same, err := text.WithImages(ctx, nil); err != nil || same.Content.String() != "hello" {
		t.Errorf("without images: %+v %v", same, err)
	}
}
