package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// example is a block of code of a page.
type example struct {
	kind   string // after the fence; "" for an indented block
	text   string
	before string // the paragraph above it, which names its file
}

// examplesOf lists the blocks of a page, fenced and indented.
func examplesOf(page string) []example {
	source := []byte(page)
	var all []example
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		var block example
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			block.kind = string(n.Language(source))
		case *ast.CodeBlock:
		default:
			return ast.WalkContinue, nil
		}
		if !in {
			return ast.WalkContinue, nil
		}
		block.text = string(n.Lines().Value(source))
		if p := n.PreviousSibling(); p != nil && p.Type() == ast.TypeBlock && p.Lines() != nil {
			block.before = string(p.Lines().Value(source))
		}
		all = append(all, block)
		return ast.WalkContinue, nil
	})
	return all
}

// TestExamplesOfThePages runs every block of every page. What a block is follows from its text: a file is read as the
// setting reads it that it is for, commands are run with the files above them, a server is asked by curl. A block that
// is none of these fails.
func TestExamplesOfThePages(t *testing.T) {
	count := 0
	for name, page := range pages(t) {
		blocks := examplesOf(page)
		count += len(blocks)
		t.Run(name, func(t *testing.T) {
			b := bench{t: t, dir: t.TempDir()}
			for i, block := range blocks {
				b.after = example{}
				if i+1 < len(blocks) {
					b.after = blocks[i+1]
				}
				if !b.run(block) {
					t.Errorf("nothing runs this example:\n%s", block.text)
				}
			}
			for _, m := range regexp.MustCompile("`gatehouse ([a-z][^`|>…\\[]*)`").FindAllStringSubmatch(page, -1) {
				if args := strings.Fields(m[1]); args[0] != "help" {
					b.parses(args)
				}
			}
		})
	}
	if count < 40 {
		t.Errorf("there are %d examples", count)
	}
}

// bench runs the examples of one page in a folder that has the files of those before.
type bench struct {
	t      *testing.T
	dir    string
	policy string  // the file with the latest policy
	after  example // the block after the one that runs
	wanted bool    // the block is the output of the one before, and was compared
}

// run reports whether the block is of a kind that it can run.
func (b *bench) run(block example) bool {
	if b.wanted {
		b.wanted = false
		return true
	}
	first, _, _ := strings.Cut(block.text, "\n")
	switch {
	case block.kind == "yaml" || block.kind == "json" || strings.HasPrefix(first, "{"):
		return b.file(block)
	case block.kind == "go":
		return strings.Contains(readFile("examples_go_test.go"), "\n"+block.text)
	case block.kind == "mermaid":
		return b.diagram(block.text)
	case block.kind == "sql":
		return b.statements(block.text)
	case strings.HasPrefix(first, "│"):
		return b.drawing(block.text)
	case regexp.MustCompile(`^(---|You are )`).MatchString(first):
		return b.settings(map[string]string{"GATEHOUSE_SYSTEM_PROMPT_FILE": b.write("prompt.md", block.text)})
	case strings.HasPrefix(first, "$ "):
		return b.transcript(block.text)
	}
	return b.commands(block)
}

func (b *bench) write(name, text string) string {
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// settings are taken, or the test fails.
func (b *bench) settings(env map[string]string) bool {
	var faults []string
	overrides{env: env}.during(func() {
		_, _, all := source.Read()
		faults = append(all, source.Unknown()...)
		for key, value := range env {
			if strings.HasPrefix(key, "GATEHOUSE_") && value != "" && !slices.Contains(source.Keys(), key) {
				faults = append(faults, key+" is no setting")
			}
		}
	})
	for _, fault := range faults {
		b.t.Errorf("%v: %s", env, fault)
	}
	return true
}

var (
	named      = regexp.MustCompile("`([\\w-]+\\.(?:ya?ml|json|sh|txt))`")
	assignment = regexp.MustCompile(`\b([A-Z][A-Z_]+)=([^\s` + "`" + `]+)`)
	keyNames   = regexp.MustCompile(`(?:env|secrets): \[([A-Z_, ]+)\]|key_env: (\w+)|\$\{(\w+)\}`)
)

// file writes a YAML or JSON file under the name that the page gives it, and has the setting read it that it is for.
// The environment is what the paragraph above says, and a value for each variable that the file names.
func (b *bench) file(block example) bool {
	env := map[string]string{}
	for _, m := range assignment.FindAllStringSubmatch(block.before, -1) {
		env[m[1]] = m[2]
	}
	for _, m := range keyNames.FindAllStringSubmatch(block.text, -1) {
		for key := range strings.SplitSeq(strings.Join(m[1:], ""), ", ") {
			if key != "PATH" {
				env[key] = "a-value-of-32-characters-for-tests"
			}
		}
	}
	name := "example." + block.kind
	for _, m := range named.FindAllStringSubmatch(block.before, -1) {
		if strings.HasSuffix(m[1], ".sh") {
			b.write(m[1], "#!/bin/sh\n")
		} else if strings.HasSuffix(m[1], "."+block.kind) {
			name = m[1]
		}
	}
	begins := func(key string) bool { return regexp.MustCompile(`(?m)^` + key + `:`).MatchString(block.text) }
	switch {
	case begins("tools"):
		env["GATEHOUSE_TOOLS"] = b.write(name, block.text)
	case begins("rules"):
		b.policy = b.write(name, block.text)
		env["GATEHOUSE_APPROVAL_POLICY"] = b.policy
	case begins("asks"):
		env["GATEHOUSE_APPROVAL_POLICY"] = b.write(name, "version: 1\ngroups: {leads: [slack:U0123BOB]}\n"+block.text)
	case begins("cases"): // the command below it reads it
		b.write(name, block.text)
		return strings.Contains(b.after.text, name)
	case begins("greeting"):
		env["GATEHOUSE_GREETING_FILE"] = b.write(name, block.text)
	case begins("models"):
		var names []string
		for _, m := range regexp.MustCompile(`\{name: (\w+)`).FindAllStringSubmatch(block.text, -1) {
			names = append(names, m[1])
		}
		env["GATEHOUSE_MODELS"], env["GATEHOUSE_MODEL"] = b.write(name, block.text), strings.Join(names, ",")
	case strings.Contains(block.text, `"mcpServers"`):
		env["GATEHOUSE_MCP_CONFIG"] = b.write(name, block.text)
	case strings.Contains(block.text, `"HRFVersion"`):
		env["GATEHOUSE_AGENT"] = "script:" + b.write(name, block.text)
	default:
		return b.directive(block.text)
	}
	return b.settings(env)
}

// directive is JSON that the endpoint answers with: each of its members is one of the endpoint's.
func (b *bench) directive(text string) bool {
	if !json.Valid([]byte(text)) {
		b.t.Errorf("this is no JSON:\n%s", text)
	}
	code := ""
	for _, folder := range []string{"openharness", "openharness/internal/*", "internal/*"} {
		files, _ := filepath.Glob(filepath.Join("../../adapters", folder, "*.go"))
		for _, file := range files {
			code += readFile(file)
		}
	}
	members := regexp.MustCompile(`"([a-z_.]+)":`).FindAllStringSubmatch(text, -1)
	for _, m := range members {
		if !strings.Contains(code, `"`+m[1]) {
			b.t.Errorf("the endpoint has no member %s", m[1])
		}
	}
	return len(members) > 0
}

var diagramLine = regexp.MustCompile(
	`^flowchart LR$|^  \w+(\[[^\]]+\]|\[\([^)]+\)\])?( (--|-- [\w ]+ --)> \w+(\[[^\]]+\]|\[\([^)]+\)\])?)+$`)

// diagram is a flow chart: arrows between boxes, with words on them or without.
func (b *bench) diagram(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); !diagramLine.MatchString(line) {
			b.t.Errorf("this line of the diagram can't be drawn: %s", line)
		}
	}
	return true
}

// drawing is a card: its words are those of the program.
func (b *bench) drawing(card string) bool {
	words := readFile("../../adapters/wording/texts.go")
	for _, m := range regexp.MustCompile(`🔔 ([\w ]+)|(?:│|·) ([A-Z][\w ]+):|\[(\w+)`).FindAllStringSubmatch(card, -1) {
		if word := strings.Join(m[1:], ""); !strings.Contains(words, word) {
			b.t.Errorf("cards do not say %q", word)
		}
	}
	return true
}

// statements are SQL. What Postgres is told before the first start can't be repeated there, so they are read alone;
// those of a migration are compared with one.
func (b *bench) statements(text string) bool {
	known := regexp.MustCompile(`^(create role \w+ login password '[^']+'|create database \w+ owner \w+|` +
		`insert into fingerprints \(version, fingerprint\) values\n\(NNNNN, ''\))$`)
	for one := range strings.SplitSeq(strings.TrimSpace(text), ";") {
		if one = strings.TrimSpace(one); one != "" && !known.MatchString(one) {
			b.t.Errorf("this statement is not known: %s", one)
		}
	}
	return true
}

// shell runs a script in the folder, where gatehouse is the program.
func (b *bench) shell(script, typed string) string {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "sh", "-c", script)
	cmd.Dir, cmd.Stdin = b.dir, strings.NewReader(typed)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "GORACE=" + quickExit, "TZ=UTC", "GATEHOUSE_LOG_FORMAT=text"}
	out, err := cmd.Output()
	if err != nil {
		b.t.Errorf("%s: %v, %s", script, err, out)
	}
	return string(out)
}

// follow fails unless the lines are in the output in this order.
func (b *bench) follow(out, lines string) {
	b.t.Helper()
	rest := out
	for line := range strings.Lines(lines) {
		_, after, found := strings.Cut(rest, line)
		if !found {
			b.t.Errorf("%q does not follow in %s", line, out)
			return
		}
		rest = after
	}
}

// transcript is commands after "$ ", what a person types after "you> ", and what is printed.
func (b *bench) transcript(block string) bool {
	for part := range strings.SplitSeq(strings.TrimPrefix(block, "$ "), "\n$ ") {
		command, rest, _ := strings.Cut(part, "\n")
		if strings.Contains(rest, "┌") {
			b.terminal(rest)
			continue
		}
		typed, printed := "", ""
		for line := range strings.Lines(rest) {
			if said := persons.ReplaceAllString(line, ""); said != line {
				typed += said
			} else {
				printed += line
			}
		}
		b.follow(b.shell(command, typed), printed)
	}
	return true
}

var (
	persons = regexp.MustCompile(`^you( \([^)]*\))?> `)
	escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
	varying = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\d \d\d:\d\d|\bann\b`)
)

// terminal types the lines at a real terminal, and waits for what it shows. Ids, times and the person's name vary.
func (b *bench) terminal(lines string) {
	w := newWorkbench(b.t, "NO_COLOR=1")
	c, keyboard, _ := w.openTerminal()
	w.sees(c, "you> ")
	for line := range strings.Lines(lines) {
		line = strings.TrimSuffix(line, "\n")
		if said := persons.ReplaceAllString(line, ""); said != line {
			w.types(keyboard, said+"\r")
			continue
		}
		pattern := ""
		for i, part := range varying.Split(line, -1) {
			if i > 0 {
				pattern += `.+`
			}
			pattern += regexp.QuoteMeta(part)
		}
		shown := regexp.MustCompile(pattern)
		w.until(line, c, func() bool { return shown.MatchString(escapes.ReplaceAllString(c.out.String(), "")) })
	}
	w.types(keyboard, "exit\r")
	w.until("the end", c, c.gone)
}
