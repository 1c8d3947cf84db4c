package prompt_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
)

// folder writes files, each under its path, and gives the folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var written = map[string]string{
	"only/1.txt":     "Hello, {{ user }}!\n",
	"greeting/1.txt": "---\nlabels: []\n---\nOld.\n",
	"greeting/2.md": "\ufeff---\r\nlabels: [production, latest]\r\nsampling:\r\n  temperature: 0\r\n  max_tokens: " +
		"500\r\n  seed: 7\r\n  stop_sequences: [END]\r\n  extras: {repetition_penalty: 1.05}\r\n---\r\nHello,\r\n{{ " +
		"user }}!\r\n\r\n",
	"greeting/3.yaml": "labels: [staging]\ntemplate: |\n  Hi, {{ user }}!\n",
	"help/a.yml": `
chat_template:
  - {role: system, content: "You know {{ topic }}."}
  - {placeholder: history}
  - role: user
    content:
      - {type: text, text: "{{ question }}"}
      - {type: image, source: {type: url, url: "{{ picture }}"}, detail: low}
`,
	".git/config":     "x",
	"only/.1.txt.swp": "x",
}

func TestAFolderOfPrompts(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	backend, err := prompt.OpenFolder(folder(t, written), now)
	if err != nil {
		t.Fatal(err)
	}
	fetch := func(name, label string) prompt.Prompt {
		p, err := backend.Fetch(t.Context(), name, label)
		if err != nil {
			t.Errorf("%s, %s: %v", name, label, err)
		}
		if p.TemplateHash != prompt.HashTemplate(p) || !p.FetchedAt.Equal(now) {
			t.Errorf("%+v", p)
		}
		return p
	}
	if p := fetch("only", ""); p.Template != "Hello, {{ user }}!" || p.Version != "1" || p.Label != "production" ||
		p.Sampling != nil {
		t.Errorf("%+v", p)
	}
	zero, most, seed := 0.0, int64(500), int64(7)
	want := &llm.Config{
		Temperature: &zero, MaxTokens: &most, Seed: &seed, StopSequences: []string{"END"},
		Extra: map[string]json.RawMessage{"repetition_penalty": []byte("1.05")},
	}
	for _, label := range []string{"production", "latest"} {
		p := fetch("greeting", label)
		if p.Template != "Hello,\n{{ user }}!\n" || p.Version != "2" || p.Label != label ||
			!cmp.Equal(p.Sampling, want) {
			t.Errorf("%+v", p)
		}
	}
	if p := fetch("greeting", "staging"); p.Template != "Hi, {{ user }}!\n" || p.Version != "3" {
		t.Errorf("%+v", p)
	}
	r, err := fetch("help", "production").Render(prompt.Input{
		Variables:    vars{"topic": "cats", "question": "Why?", "picture": "https://h/a.png"},
		Placeholders: map[string][]core.Message{"history": {said(core.User, "Hi")}},
	})
	if err != nil || len(r.Messages) != 3 || r.Messages[2].Content.Blocks()[1].Detail != "low" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, missing := range [][2]string{{"greeting", "canary"}, {"git", ""}, {"config", ""}} {
		if _, err := backend.Fetch(t.Context(), missing[0], missing[1]); core.CategoryOf(err) != core.PromptNotFound {
			t.Errorf("%v: %v", missing, err)
		}
	}
}

// TestFaultsOfAFolder: each fault has its file, its place and the remedy.
func TestFaultsOfAFolder(t *testing.T) {
	for file, c := range map[string]struct{ text, want string }{
		"p/1.txt": {"a\nb {{ user\n", "p/1.txt:2:3: {{ has no }}; to write two braces use {{ \"{{\" }}"},
		"p/2.txt": {
			"---\nlabels: [a]\n---\nx\n{{ a b }}", "p/2.txt:5:1: {{ a b }} is no variable; write {{ name }}",
		},
		"p/3.txt": {
			"---\nlables: [a]\n---\nx", "p/3.txt:2:1: unknown key \"lables\" in the header; did you mean labels?",
		},
		"p/4.txt":  {"---\nlabels: [a]\nx", "p/4.txt:1:1: the header that begins here has no end; add a line ---"},
		"p/5.txt":  {" \n", "p/5.txt: the file is empty; write the prompt into it"},
		"p/6.txt":  {"---\nlabels: [a]\n---\n", "p/6.txt:4:1: the template is empty; write its text"},
		"p/7.txt":  {"a\xff", "p/7.txt: the file is not encoded in UTF-8; save it as UTF-8"},
		"p/8.txt":  {strings.Repeat("a", 1<<20+1), "p/8.txt: the file is too large; keep it under 1 MiB"},
		"p/9.json": {"{}", "p/9.json: this is no version of a prompt; name it like 1.txt"},
		"p/10.txt": {
			"---\nlabels: [a\n---\nx",
			"p/10.txt:1: the file is no valid YAML: did not find expected ',' or ']'; correct the YAML there or just " +
				"before it",
		},
		"p/11.yaml": {
			"labels: [a]\n", "p/11.yaml:1:1: it is not clear whether this is a text or a chat; write exactly one of " +
				"template and chat_template",
		},
		"p/12.yaml": {
			"template: a\nchat_template: []\n", "p/12.yaml:1:1: it is not clear whether this is a text or a chat",
		},
		"p/13.yaml": {"# nothing\n", "p/13.yaml:1: the file is empty; add template: or chat_template:"},
		"p/14.yaml": {"template: |\n  a\n  {{ b\n", "p/14.yaml:3: {{ has no }}"},
		"p/15.yaml": {"template: a\ntemplate: b\n", "p/15.yaml:2:1: the key \"template\" is there twice"},
		"p/16.yaml": {"template: a\n---\ntemplate: b\n", "p/16.yaml:2:1: the file has several documents"},
		"p/17.yaml": {
			"labels: production\ntemplate: a\n",
			"p/17.yaml:1:9: labels is \"production\", not a list; write it as a list",
		},
		"p/18.yaml": {
			"template: a\nsampling: {temprature: 1}\n",
			"p/18.yaml:2:12: unknown key \"temprature\" in sampling; did you mean temperature?",
		},
		"p/19.yaml": {
			"template: a\nsampling:\n  temperature: hot\n  max_tokens: 1.5\n",
			"p/19.yaml:3:16: \"hot\" is no number; write a number\np/19.yaml:4:15: \"1.5\" is no whole number",
		},
		"p/20.yaml": {
			"chat_template:\n  - {role: user, content: a}\n  - {role: tool, content: a}\n",
			"p/20.yaml:3:5: segment 2: invalid role \"tool\"; use system, user or assistant",
		},
		"p/21.yaml": {
			"chat_template:\n  - {placeholder: a}\n  - {placeholder: a}\n",
			"p/21.yaml:3:5: segment 2: duplicate placeholder name \"a\"",
		},
		"p/22.yaml": {"chat_template:\n  - role: assistant\n    content:\n      - {type: image, source: {type: " +
			"url, url: a}}\n", "p/22.yaml:2:5: segment 1: block 1: an image block needs the role user"},
		"p/23.yaml": {
			"chat_template:\n  - role: system\n    content:\n      - {type: text, text: a}\n",
			"p/23.yaml:2:5: segment 1: a system message has no blocks",
		},
		"p/24.yaml": {
			"chat_template:\n  - {role: user, content: \"{{ a\"}\n  - {role: user}\n",
			"p/24.yaml:2:27: {{ has no }}; to write two braces use {{ \"{{\" }}\np/24.yaml:3:5: a message has no " +
				"content",
		},
		"p/25.yaml": {"chat_template: []\n", "p/25.yaml:1:16: chat_template is empty; add segments to it"},
		"p/26.yaml": {
			"chat_template: [{role: user, content: [{type: text}, {type: image}]}]",
			"p/26.yaml:1:40: a block of type text has no text; add text:\np/26.yaml:1:54: a block of type image has " +
				"no source",
		},
		"p/27.yaml": {
			"a: &a x\ntemplate: *a\n",
			"p/27.yaml:1:1: unknown key \"a\" in the file; use one of labels, sampling, template, chat_template",
		},
		"p/28.yaml":   {"template:\n", "p/28.yaml:1:10: template is empty; write a text"},
		"p/29.yaml":   {"[]", "p/29.yaml:1:1: the file is an empty list, not a mapping"},
		"top.txt":     {"x", "top.txt: this is a file, and each prompt is a folder; move it into a folder"},
		"p/30.txt/x":  {"x", "p/30.txt: the file can't be read: is a directory"},
		"empty/.keep": {"", "empty: the folder is empty; add a file, such as 1.txt, or remove the folder"},
		"p/31.yaml":   {"template: a\nsampling: {extras: [1]}\n", "p/31.yaml:2:20: extras is a list, not a mapping"},
	} {
		dir := folder(t, map[string]string{file: c.text})
		_, err := prompt.OpenFolder(dir, time.Time{})
		got := strings.ReplaceAll(fmt.Sprint(err), dir+"/", "")
		if core.CategoryOf(err) != core.Invalid || !strings.HasPrefix(got, c.want) ||
			strings.Count(got, "\n") != strings.Count(c.want, "\n") {
			t.Errorf("%s: %v\n%s\nwant\n%s", file, core.CategoryOf(err), got, c.want)
		}
	}
}

func TestFaultsOfSeveralVersions(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"p/2.txt:2:13: the label a is on 1.txt too; remove it from one " +
			"of the two": {"p/1.txt": "---\nlabels: [a]\n---\nx",
			"p/2.txt": "---\nlabels: [b, a]\n---\ny"},
		"p/1.yaml: 1.txt has the same version 1; rename or remove one of the two": {
			"p/1.txt": "x", "p/1.yaml": "template: y",
		},
		"p: no version of this prompt has a label, so nobody can fetch it; add labels: [production]": {
			"p/1.txt": "x", "p/2.txt": "y",
		},
		"p/1.txt: the file is empty; write the prompt into it\nq/1.txt:1:1: {{ has no }}": {
			"p/1.txt": "", "q/1.txt": "{{", "r/1.txt": "x",
		},
		": the folder is empty; make a folder for each prompt in it": {".keep": ""},
	} {
		dir := folder(t, files)
		_, err := prompt.OpenFolder(dir, time.Time{})
		got := strings.ReplaceAll(strings.ReplaceAll(fmt.Sprint(err), dir+"/", ""), dir, "")
		if core.CategoryOf(err) != core.Invalid || !strings.HasPrefix(got, want) {
			t.Errorf("%v:\n%s\nwant\n%s", slices.Sorted(maps.Keys(files)), got, want)
		}
	}
	if _, err := prompt.OpenFolder(filepath.Join(t.TempDir(), "none"), time.Time{}); !strings.HasSuffix(fmt.Sprint(err),
		"none: the folder can't be read: no such file or directory; correct the path, or let gatehouse read the "+
			"folder") {
		t.Errorf("%v", err)
	}
}

func FuzzFolder(f *testing.F) {
	for _, text := range written {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Add("chat_template: &a [{role: user, content: *a}]", true)
	f.Fuzz(func(t *testing.T, text string, yaml bool) {
		file := "p/1.txt"
		if yaml {
			file = "p/1.yaml"
		}
		backend, err := prompt.OpenFolder(folder(t, map[string]string{file: text}), time.Time{})
		if err != nil {
			if core.CategoryOf(err) != core.Invalid ||
				!strings.Contains(err.Error(), file) && !strings.Contains(err.Error(), "/p: ") {
				t.Fatal(err)
			}
			return
		}
		if p, err := backend.Fetch(t.Context(), "p", "production"); err == nil {
			if _, err := p.Variables(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
