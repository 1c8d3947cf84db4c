package prompt_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatehouse/core"
	"gatehouse/core/llm/prompt"
)

type vars = map[string]any

func text(template string) prompt.Prompt {
	return prompt.Prompt{Name: "p", Version: "1", Label: "production", Template: template}
}

func chat(segments ...prompt.Segment) prompt.Prompt {
	return prompt.Prompt{Name: "p", Version: "1", Label: "production", Chat: segments}
}

func seg(role core.Role, template string) prompt.Segment {
	return prompt.Segment{Role: role, Content: core.Text(template)}
}

func blocks(role core.Role, b ...core.Block) prompt.Segment {
	return prompt.Segment{Role: role, Content: core.Blocks(b...)}
}

func image(source core.ImageSource, mediaType string) core.Block {
	return core.Block{Type: core.ImageBlock, Source: &source, MediaType: mediaType}
}

func said(role core.Role, text string) core.Message {
	return core.Message{Role: role, Content: core.Text(text)}
}

var compareContent = cmp.Exporter(func(reflect.Type) bool { return true })

func TestATextRendersToOneUserMessage(t *testing.T) {
	type kind string
	for template, want := range map[string]string{
		"Hello, {{ user }}!":              "Hello, Ann!",
		"{{user}}{{  user\t}}":            "AnnAnn",
		"{{ n }} {{ f }} {{ b }}":         "-3 0.25 true",
		"{{ u }} {{ k }}":                 "7 word",
		"{ user } {% x %} {# y #} }}":     "{ user } {% x %} {# y #} }}",
		`{{ "{{" }} user }}, {{ '"' }}`:   `{{ user }}, "`,
		`{{ "}}" }}{{""}}{{ user }}`:      "}}Ann",
		"{{ nasty }}":                     "{{ user }} & <b>",
		" ":                               " ",
		"{{ empty }}\n":                   "\n",
		"{{ user }}: {{ user }}\n\n  end": "Ann: Ann\n\n  end",
	} {
		in := prompt.Input{
			Variables: vars{
				"user": "Ann", "n": -3, "f": 0.25, "b": true, "u": uint8(7), "k": kind("word"),
				"nasty": "{{ user }} & <b>", "empty": "", "unused": nil,
			},
			Placeholders: map[string][]core.Message{"ignored": nil},
		}
		r, err := text(template).Render(in)
		if err != nil {
			t.Errorf("%q: %v", template, err)
			continue
		}
		if diff := cmp.Diff([]core.Message{said(core.User, want)}, r.Messages, compareContent); diff != "" {
			t.Errorf("%q: %s", template, diff)
		}
	}
}

func TestAChatRendersItsSegmentsInOrder(t *testing.T) {
	history := []core.Message{said(core.User, "{{ topic }}"), said(core.Assistant, "Yes?")}
	p := chat(
		seg(core.System, "You know {{ topic }}."),
		prompt.Segment{Placeholder: "history"},
		prompt.Segment{Placeholder: "none"},
		seg(core.Assistant, "So:"),
		blocks(core.User, core.Block{Type: core.TextBlock, Text: "See {{ topic }}"},
			image(core.ImageSource{Type: core.SourceURL, URL: "https://{{ host }}/a.png"}, "{{ literal }}"),
			image(core.ImageSource{Type: core.SourceInline, Base64Data: "{{ data }}"}, "image/{{ kind }}")),
	)
	r, err := p.Render(prompt.Input{
		Variables:    vars{"topic": "cats", "host": "h", "data": "aGk=", "kind": "png"},
		Placeholders: map[string][]core.Message{"history": history, "none": {}, "unused": history},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []core.Message{
		said(core.System, "You know cats."), history[0], history[1], said(core.Assistant, "So:"),
		{Role: core.User, Content: core.Blocks(core.Block{Type: core.TextBlock, Text: "See cats"},
			image(core.ImageSource{Type: core.SourceURL, URL: "https://h/a.png"}, "{{ literal }}"),
			image(core.ImageSource{Type: core.SourceInline, Base64Data: "aGk="}, "image/png"))},
	}
	if diff := cmp.Diff(want, r.Messages, compareContent); diff != "" {
		t.Error(diff)
	}
	if got := p.Chat[4].Content.Blocks()[1].Source.URL; got != "https://{{ host }}/a.png" {
		t.Errorf("the prompt changed: %s", got)
	}
	names, err := p.Variables()
	if diff := cmp.Diff([]string{"data", "host", "kind", "topic"}, names); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestWhatCanNotBeRendered(t *testing.T) {
	user := seg(core.User, "x")
	textBlock := core.Block{Type: core.TextBlock, Text: "x"}
	url := image(core.ImageSource{Type: core.SourceURL, URL: "{{ empty }}"}, "")
	slot := func(name string) prompt.Segment { return prompt.Segment{Placeholder: name} }
	for description, p := range map[string]prompt.Prompt{
		`the variable "day" is undefined`:                  text("{{ user }} {{ day }}"),
		`the variable "list" has a value of type []string`: text("{{ list }}"),
		`the variable "null" has a value of type <nil>`:    text("{{ null }}"),
		"{{ has no }}": text(
			"a {{ user"),
		"{{ user.name }} is no variable": text(
			"{{ user.name }}"),
		"{{  }} is no variable": text("{{  }}"),
		"is not closed by its quotation mark": text(
			`{{ "{{ }}`),
		"the rendered text is empty": text(
			"{{ empty }}"),
		"segment 2: the rendered text is empty": chat(user,
			seg(core.User, "")),
		"segment 1: block 2: the rendered text is empty": chat(
			blocks(core.User, textBlock, core.Block{Type: core.TextBlock, Text: "{{ empty }}"})),
		"segment 1: the list of content blocks is empty": chat(
			blocks(core.User)),
		`segment 2: block 1: the variable "day" is undefined`: chat(user,
			blocks(core.User, core.Block{Type: core.TextBlock, Text: "{{ day }}"})),
		`the placeholder "examples" has no messages`: chat(user,
			slot("examples")),
		`segment 3: duplicate placeholder name "history"; segment 1 has it`: chat(
			slot("history"), user, slot("history")),
		`segment 1: invalid placeholder name "2nd"`: chat(
			slot("2nd")),
		`segment 1: invalid placeholder name ""`: chat(slot("")),
		`segment 1: invalid placeholder name "a\n"`: chat(
			slot("a\n")),
		"the list of rendered messages is empty": chat(
			slot("history")),
		"segment 1: block 1: an image block needs the role user; this segment has the role system": chat(
			blocks(core.System, url)),
		"segment 1: block 2: an image block needs the role user; this segment has the role assistant": chat(
			blocks(core.Assistant, textBlock, url)),
		"segment 1: block 1: an image source of type url needs a url": chat(blocks(core.User, url)),
		"base64_data is not base64": chat(
			blocks(core.User,
				image(core.ImageSource{Type: core.SourceInline, Base64Data: "{{ user }}!"}, "image/png"))),
		"needs a media_type": chat(
			blocks(core.User, image(core.ImageSource{Type: core.SourceInline, Base64Data: "aGk="}, "{{ empty }}"))),
		"an image source of a prompt is": chat(
			blocks(core.User, core.StoredImage("image/png", core.Digest(nil), 1))),
		"an image block needs a source": chat(blocks(core.User, core.Block{Type: core.ImageBlock})),
		`invalid block type "thinking"`: chat(
			blocks(core.Assistant, core.Block{Type: core.ThinkingBlock, Text: "x"})),
		`invalid role "tool"`:          chat(seg(core.ToolRole, "x")),
		"a placeholder has no content": chat(prompt.Segment{Content: core.Text("x")}),
		"either a role or a placeholder": chat(
			prompt.Segment{Role: core.User, Content: core.Text("x"), Placeholder: "history"}),
		"both a template and a chat_template": {
			Name: "p", Version: "1", Label: "production", Template: "x", Chat: []prompt.Segment{user},
		},
		`message 2 of the placeholder "broken"`: chat(user, slot("broken")),
	} {
		in := prompt.Input{
			Variables: vars{"user": "s3cret", "empty": "", "list": []string{"a"}, "null": nil},
			Placeholders: map[string][]core.Message{
				"history": {}, "a\n": {}, "": {}, "2nd": {}, "broken": {said(core.User, "x"), {Role: core.ToolRole}},
			},
		}
		r, err := p.Render(in)
		var e *prompt.Error
		if core.CategoryOf(err) != core.PromptRenderError || !errors.As(err, &e) || len(r.Messages) > 0 {
			t.Errorf("%s: %v, %v", description, r, err)
			continue
		}
		if !strings.Contains(e.Description, description) {
			t.Errorf("%q is not in %q", description, e.Description)
		}
		if e.Name != "p" || e.Version != "1" || e.Label != "production" || !cmp.Equal(vars(e.Variables), in.Variables) {
			t.Errorf("%s: the error carries %+v", description, e)
		}
		if strings.Contains(err.Error(), "s3cret") ||
			!strings.Contains(core.MessageOf(err), `"p" (version 1, label production)`) {
			t.Errorf("%s: the error is %q", description, err)
		}
	}
}

func TestAResultIsThePromptsAndItsOwn(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	m := prompt.Manager{Now: func() time.Time {
		return now.Add(time.Hour)
	}, Backends: []prompt.Backend{prompt.NewStatic(now, text("Hi {{ user }}"))}}
	given := vars{"user": "Ann"}
	r, err := m.Get(t.Context(), "p", "", prompt.Input{Variables: given})
	if err != nil {
		t.Fatal(err)
	}
	given["user"] = "Bob"
	if r.Name != "p" || r.Version != "1" || r.Label != "production" ||
		r.TemplateHash != prompt.HashTemplate(text("Hi {{ user }}")) ||
		r.Variables["user"] != "Ann" || !r.FetchedAt.Equal(now) || !r.RenderedAt.Equal(now.Add(time.Hour)) {
		t.Errorf("%+v", r)
	}
}

func TestHashesTellTemplatesApart(t *testing.T) {
	seen := map[string]int{}
	for i, p := range []prompt.Prompt{
		text("a"), text("b"), chat(seg(core.User, "a")), chat(seg(core.System, "a")),
		chat(blocks(core.User, core.Block{Type: core.TextBlock, Text: "a"})),
		chat(prompt.Segment{Placeholder: "a"}), chat(seg(core.User, "a"), seg(core.User, "b")),
		chat(seg(core.User, "b"), seg(core.User, "a")), chat(),
		chat(blocks(core.User, image(core.ImageSource{Type: core.SourceURL, URL: "a"}, ""))),
		chat(blocks(core.User, image(core.ImageSource{Type: core.SourceInline, Base64Data: "a"}, ""))),
	} {
		hash := prompt.HashTemplate(p)
		if first, twice := seen[hash]; twice {
			t.Errorf("%d and %d have one hash", first, i)
		}
		seen[hash] = i
		p.Name, p.Version, p.Label = "other", "9", "staging"
		if prompt.HashTemplate(p) != hash {
			t.Errorf("%d: the name is part of the hash", i)
		}
	}
}

// TestTheRenderedHashIsOfTheMessages: the order of keys in arguments does not count, and everything else does.
func TestTheRenderedHashIsOfTheMessages(t *testing.T) {
	hash := func(m ...core.Message) string {
		r, err := chat(prompt.Segment{Placeholder: "m"}).Render(
			prompt.Input{Placeholders: map[string][]core.Message{"m": m}})
		if err != nil {
			t.Fatal(err)
		}
		return r.RenderedHash
	}
	call := func(arguments string) core.Message {
		return core.Message{
			Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "1", Name: "f", Arguments: []byte(arguments)}},
		}
	}
	if hash(call(`{"a": 1, "b": {"c": 2, "d": 3}}`)) != hash(call(`{"b":{"d":3,"c":2},"a":1}`)) {
		t.Error("the order of keys counts")
	}
	seen := map[string]bool{}
	for _, m := range [][]core.Message{
		{call(`{"a":1}`)}, {call(`{"a":12345678901234567890}`)}, {call(`{"a":12345678901234567891}`)},
		{said(core.User, "a")}, {said(core.Assistant, "a")},
		{said(core.User, "a"), said(core.User, "b")}, {said(core.User, "ab")},
		{{Role: core.User, Content: core.Blocks(core.Block{Type: core.TextBlock, Text: "a"})}},
	} {
		if h := hash(m...); seen[h] {
			t.Errorf("%v has the hash of another one", m)
		} else {
			seen[h] = true
		}
	}
}

// TestOnlyVariablesVary: rendering is deterministic, whatever the values are they stand as they are, and the rest of
// the template stays.
func TestOnlyVariablesVary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		static := rapid.SliceOfN(rapid.StringMatching(`[^{]{0,8}`), 3, 3).Draw(t, "static")
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		p := text("#" + static[0] + "{{ a }}" + static[1] + "{{b}}" + static[2])
		in := prompt.Input{Variables: vars{"a": a, "b": b}}
		first, err := p.Render(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := first.Messages[0].Content.String(), "#"+static[0]+a+static[1]+b+static[2]; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		second, err := p.Render(in)
		if err != nil || !cmp.Equal(first, second, compareContent) {
			t.Fatalf("%+v\n%+v\n%v", first, second, err)
		}
	})
}

func FuzzRender(f *testing.F) {
	for _, seed := range []string{"{{ a }}", `{{ "{{" }}`, "{{ a }", "{{{ a }}}", `{{ "`, "{{}}", "{{ '}}' }}x{{a}}"} {
		f.Add(seed, "v")
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		p := text(template)
		_, invalid := p.Variables()
		r, err := p.Render(prompt.Input{Variables: vars{"a": value, "f": math.Pi}})
		if err != nil && core.CategoryOf(err) != core.PromptRenderError {
			t.Fatal(err)
		}
		if invalid != nil && err == nil {
			t.Fatalf("%q was rendered to %q", template, r.Messages[0].Content)
		}
	})
}
