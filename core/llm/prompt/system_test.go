package prompt_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm/prompt"
)

func TestTheSystemPrompt(t *testing.T) {
	now := time.Date(2026, 11, 22, 23, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		files    map[string]string
		path     string
		version  string // "" = its hash
		sampling string
	}{
		"a file": {
			map[string]string{"system.txt": "You are on {{platform}}.\n\nToday is {{ today }}.\n"}, "system.txt", "",
			"null",
		},
		"a file with a head": {map[string]string{"system.txt": "---\nsampling: {temperature: 0}\n---\nYou are on " +
			"{{platform}}.\n\nToday is {{ today }}.\n"}, "system.txt", "", `"Temperature":0,`},
		"a folder": {map[string]string{
			"system/1.md": "Old.\n", "system/2.md": "---\nlabels: [production]\nsampling: {seed: 7}\n---\nYou are on " +
				"{{platform}}.\n\nToday is {{ today }}.\n",
			"system/3.md": "---\nlabels: [staging]\n---\nNew.\n", "greeting/1.txt": "Hello, {{ user }}!\n",
		}, "", "2", `"Seed":7,`},
		"a chat of one segment": {map[string]string{"system/1.yaml": "chat_template:\n  - role: system\n    content: " +
			"|-\n      You are on {{platform}}.\n\n      Today is {{ today }}.\n"}, "", "1", "null"},
	} {
		p, err := prompt.ReadSystem(filepath.Join(folder(t, c.files), c.path), now)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := p.Render(prompt.SystemInput("console", now))
		if err != nil || len(r.Messages) != 1 ||
			r.Messages[0].Content.String() != "You are on console.\n\nToday is 2026-11-22." {
			t.Errorf("%s: %v, %v", name, r.Messages, err)
		}
		if c.version == "" {
			c.version = prompt.HashTemplate(p)
		}
		if sampling, err := json.Marshal(p.Sampling); err != nil || !strings.Contains(string(sampling), c.sampling) {
			t.Errorf("%s: it samples by %s, %v", name, sampling, err)
		}
		if p.Name != "system" || p.Label != "production" || p.Version != c.version ||
			p.TemplateHash != prompt.HashTemplate(p) || !p.FetchedAt.Equal(now) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestFaultsOfTheSystemPrompt(t *testing.T) {
	for want, c := range map[string]struct{ file, text, path string }{
		"system.txt: the file is empty; write the prompt into it": {"system.txt",
			"\n \n", "system.txt"},
		"system.txt:2:1: there is no variable user; use platform, today, zone\nsystem.txt:3:16: there is no variable " +
			"bot; use platform, today, zone": {"system.txt", "a\n{{ user }}\n{{ platform }} {{ bot }}", "system.txt"},
		"system.txt:2:1: {{ has no }}; to write two braces use {{ \"{{\" }}": {"system.txt",
			"a\n{{ today", "system.txt"},
		"system.txt:2:10: a file alone has no labels; remove it, or write the prompt into a folder with several " +
			"versions": {"system.txt", "---\nlabels: [production]\n---\na", "system.txt"},
		"none.txt: the file can't be read: no such file or directory; correct the path, or let gatehouse read the " +
			"file": {"system.txt",
			"a", "none.txt"},
		"system/1.md:1:1: there is no variable user; use platform, today, zone": {"system/1.md",
			"{{ user }}", ""},
		": there is no prompt system with the label production; add the file system/1.md, or labels: [production] to " +
			"one of the versions of system": {"system/1.md", "---\nlabels: [staging]\n---\na", ""},
		": version 1 of the prompt system is a whole chat; write a text, or a chat_template with one segment, whose " +
			"role is system": {"system/1.yaml", "chat_template: [{role: user, content: a}]", ""},
	} {
		dir := folder(t, map[string]string{c.file: c.text})
		_, err := prompt.ReadSystem(filepath.Join(dir, c.path), time.Time{})
		if got := strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(err), dir+"/", ""), dir,
			""); core.CategoryOf(err) != core.Invalid || got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}
