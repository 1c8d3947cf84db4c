package preview

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// drawings draws the golden files of a platform.
func drawings(t *testing.T, platform string, draw func([]byte) (Drawing, error)) []Drawing {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", platform, "testdata", "golden", "*.json"))
	if err != nil || len(names) < 20 {
		t.Fatalf("%d files: %v", len(names), err)
	}
	var all []Drawing
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "manifest") {
			continue // it is no message
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := draw(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(d.Unknown) > 0 {
			t.Errorf("%s has what the preview can't draw; teach it: %v", name, d.Unknown)
		}
		d.Name = strings.TrimSuffix(filepath.Base(name), ".json")
		all = append(all, d)
	}
	return all
}

// Every golden file is drawn completely. GATEHOUSE_PREVIEW=DIR writes the pages to look at.
func TestEveryGoldenFileIsDrawnCompletely(t *testing.T) {
	for platform, draw := range map[string]func([]byte) (Drawing, error){"slack": Slack, "discord": Discord} {
		all := drawings(t, platform, draw)
		for _, theme := range []string{"light", "dark"} {
			var page strings.Builder
			if err := Page(&page, platform, theme, all); err != nil {
				t.Fatal(err)
			}
			for _, d := range all {
				if !strings.Contains(page.String(), `id="`+d.Name+`"`) {
					t.Errorf("%s is not on the page", d.Name)
				}
			}
			if dir := os.Getenv("GATEHOUSE_PREVIEW"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, platform+"-"+theme+".html"), []byte(page.String()),
					0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

const (
	slackEverything = `[{"Text":"a &lt;b&gt;","Blocks":[
		{"type":"header","text":{"type":"plain_text","text":"Head"}},{"type":"divider"},
		{"type":"section","text":{"type":"mrkdwn","text":"*bold* _it_ ~no~ ` + "`code`" + ` <@U1> <!here> <https://x.example|label> :warning:\n&gt; quote\n` + "```pre```" + `"},"fields":[
			{"type":"plain_text","text":"left"},{"type":"mrkdwn","text":"<!date^1772370000^{date_num} {time}|x>"}]},
		{"type":"rich_text","elements":[
			{"type":"rich_text_section","elements":[{"type":"text","text":"styled","style":{"bold":true,"code":true}},{"type":"user","user_id":"U2"},{"type":"usergroup","usergroup_id":"S1"},
				{"type":"date","timestamp":1772370000,"format":"{date_short_pretty} at {time}"},{"type":"link","url":"https://y.example","text":"y"},{"type":"emoji","name":"x","unicode":"26a0-fe0f"}]},
			{"type":"rich_text_preformatted","elements":[{"type":"text","text":"box"}]},{"type":"rich_text_quote","elements":[{"type":"text","text":"said"}]},
			{"type":"rich_text_list","style":"ordered","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"first"}]}]}]},
		{"type":"markdown","text":"# Title\n**bold** *it* ` + "`a &lt;b&gt;`" + `\n- item\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n` + "```go\\nx := 1\\n```" + `"},
		{"type":"context","elements":[{"type":"mrkdwn","text":"small"}]},
		{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","text":"Go"},"style":"danger","accessibility_label":"Go on","url":"https://z.example","confirm":{
			"title":{"type":"plain_text","text":"Sure?"},"text":{"type":"plain_text","text":"Really."},"confirm":{"type":"plain_text","text":"Yes"},"deny":{"type":"plain_text","text":"No"}}}]}],
		"Attachments":[{"color":"#aabbcc","blocks":[{"type":"section","text":{"type":"plain_text","text":"inside"}}]}],"Color":11189196,"Foot":"below"},
		{"type":"modal","title":{"type":"plain_text","text":"Form"},"submit":{"type":"plain_text","text":"Send"},"blocks":[
			{"type":"input","label":{"type":"plain_text","text":"Why?"},"element":{"type":"plain_text_input","placeholder":{"type":"plain_text","text":"because"}}},
			{"type":"input","label":{"type":"plain_text","text":"Size"},"element":{"type":"radio_buttons","options":[{"text":{"type":"plain_text","text":"Small"},"value":"1"}]}},
			{"type":"input","label":{"type":"plain_text","text":"Where"},"element":{"type":"static_select","placeholder":{"type":"plain_text","text":"Choose"},"options":[{"text":{"type":"plain_text","text":"Asia"},"value":"1"}]}},
			{"type":"input","label":{"type":"plain_text","text":"Count"},"element":{"type":"number_input","initial_value":"42"}}]}]`
	discordEverything = `[{"content":"**bold** *it* ~~no~~ ` + "`code` ```go\\nx := 1\\n```" +
		`\n# Title\n-# small\n> quote\n- item\n<t:1772370000:f> <t:1772370000:R> <@1> <#2> </ask:3> [label](https://x.example) https://y.example \\* ||secret||",
		"components":[{"type":1,"components":[{"type":2,"style":3,"label":"Go","custom_id":"a","emoji":{"name":"✅"}},{"type":2,"style":5,"label":"See","url":"https://z.example"}]}]},
		{"Rows":[{"type":17,"accent_color":11189196,"components":[{"type":10,"content":"inside"},{"type":14,"divider":true},
			{"type":9,"components":[{"type":10,"content":"beside"}],"accessory":{"type":2,"style":2,"label":"More","custom_id":"b"}},{"type":12,"items":[{}]}]}]},
		{"title":"Form","components":[{"type":18,"label":"Why?","description":"Say it.","component":{"type":4,"style":2,"custom_id":"c","placeholder":"because"}},
			{"type":18,"label":"Where","component":{"type":3,"custom_id":"d","placeholder":"Choose","options":[{"label":"Asia","value":"1"}]}}]}]`
)

func TestEveryComponentIsDrawn(t *testing.T) {
	for _, c := range []struct {
		draw        func([]byte) (Drawing, error)
		data, aloud string
		shown       []string
	}{
		{Slack, slackEverything, "a <b>", []string{
			"<h3>Head</h3>", "<hr>", "<b>bold</b> <i>it</i> <s>no</s> <code>code</code>",
			`<span class="pill">@U1</span>`, `<span class="pill">@here</span>`, `title="https://x.example">label</a>`,
			"⚠️",
			"<blockquote>quote</blockquote>", "<pre>pre</pre>", "left", "2026-03-01 1:00 PM",
			`class="bold code">styled`, "@U2", "@S1", "Today at 1:00 PM", ">y</a>", "<pre><span class=\"\">box</span>",
			`<ul class="ordered">`, "<h4>Title</h4>", "<code>a &lt;b&gt;</code>", "<b>•</b> item", "<td>1</td>",
			"<pre>x := 1</pre>", "small", `class="button danger" title="Go on"`, "Sure?", "Really.", "Yes",
			"border-color:#aabbcc", "inside", `border-color:#aabbcc">below`, "Form", "Send", "Why?", "because",
			"<li>Small</li>", "Choose ▾", "<li>Asia</li>", "42",
		}},
		{
			Discord, discordEverything,
			"bold it no code x := 1\nTitle\nsmall\nquote\n• item\nMarch 1, 2026 1:00 PM in an hour @1 #2 /ask label " +
				"https://y.example * secret\n[Button] ✅ Go\n[Button] See\n" +
				"inside\nbeside\n[Button] More\nForm: Form\nWhy?\nSay it.\n[Input] because\nWhere\n[Menu] Choose\n• " +
				"Asia", []string{
				"<b>bold</b> <i>it</i> <s>no</s> <code>code</code> <pre>x := 1</pre>", "<h4>Title</h4>",
				"<small>small</small>", "<blockquote>quote</blockquote>", "<b>•</b> item",
				`<span class="time">March 1, 2026 1:00 PM</span>`, "in an hour", `<span class="pill">@1</span>`, "/ask",
				`title="https://x.example">label</a>`, `class="spoiler">secret`,
				`class="button s3 "`, "✅ Go", "See ↗", "border-left-color:#aabbcc", "inside", "<hr>", "beside", "More",
				"Form", "Why?", "Say it.", "because", "Choose ▾", "<li>Asia</li>",
			},
		},
	} {
		d, err := c.draw([]byte(c.data))
		if err != nil || len(d.Unknown) > 0 {
			t.Fatalf("%v, %v", d.Unknown, err)
		}
		for _, want := range c.shown {
			if !strings.Contains(string(d.HTML), want) {
				t.Errorf("%s is missing in\n%s", want, d.HTML)
			}
		}
		if d.Aloud != c.aloud {
			t.Errorf("it is read as\n%q, want\n%q", d.Aloud, c.aloud)
		}
	}
}

func TestWhatCannotBeDrawnIsReported(t *testing.T) {
	for _, c := range []struct {
		draw func([]byte) (Drawing, error)
		data string
		want []string
	}{
		{
			Slack, `[{"Blocks":[{"type":"video"},{"type":"section","accessory":{"type":"image"}}],"Other":1}]`,
			[]string{"type video", "section.accessory", "message.other"},
		},
		{
			Slack,
			`[{"Blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"colour"}]}]},{"type":"actions","elements":[{"type":"overflow"}]}]}]`,
			[]string{"type colour", "type overflow"},
		},
		{
			Discord,
			`[{"components":[{"type":5},{"type":10,"content":"x","colour":1},{"type":1,"components":[{"type":2,"style":6}]}],"other":"x"}]`,
			[]string{"message.other", "type 5", "10.colour", "type 2"},
		},
	} {
		d, err := c.draw([]byte(c.data))
		if err != nil || !slices.Equal(d.Unknown, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.data, d.Unknown, err, c.want)
		}
		if n := strings.Count(string(d.HTML), `class="unknown"`); n != len(c.want) {
			t.Errorf("%s: %d red boxes in\n%s", c.data, n, d.HTML)
		}
	}
	for _, data := range []string{"", "[1]", "{"} {
		if _, err := Slack([]byte(data)); err == nil {
			t.Errorf("%q is drawn", data)
		}
	}
}
