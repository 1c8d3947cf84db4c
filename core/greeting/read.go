package greeting

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"gatehouse/core/strictyaml"
)

// How much a screen holds.
const (
	maxAgentName = 40  // characters
	maxGreeting  = 600 // characters
	maxExample   = 120 // characters
	maxExamples  = 6
)

// Read puts what a file says into a greeting; "" = no file. The file is a YAML mapping. Errors: strictyaml.Faults.
func Read(file string, g Greeting) (Greeting, error) {
	if file == "" {
		return g, nil
	}
	r := strictyaml.Reader{File: file}
	data, ok := r.ReadFile()
	if !ok {
		return g, r.Err()
	}
	root := r.Parse(data, "write the greeting into it, such as greeting: Ask me about orders")
	if root == nil {
		return g, r.Err()
	}
	for _, e := range r.Entries(root, "the file", []string{"greeting", "examples", "agent_name"}) {
		switch e.Key {
		case "greeting":
			g.Text = shortText(&r, e.Value, e.Key, "Ask me about orders", maxGreeting)
		case "agent_name":
			g.Agent = shortLine(&r, e.Value, e.Key, "Shop assistant", maxAgentName)
		case "examples":
			g.Examples = examplesOf(&r, e.Value)
		}
	}
	return g, r.Err()
}

func examplesOf(r *strictyaml.Reader, list *yaml.Node) (all []string) {
	const example = "[Where is order 1001?]"
	items := r.Items(list, "examples", example)
	if len(items) > maxExamples {
		r.Fault(list, fmt.Sprintf("keep the best %d", maxExamples), "there are %d examples", len(items))
	}
	for _, item := range items {
		all = append(all, shortLine(r, item, "an example", "Where is order 1001?", maxExample))
	}
	return all
}

// shortLine is a shortText of one line.
func shortLine(r *strictyaml.Reader, n *yaml.Node, what, example string, most int) string {
	text := shortText(r, n, what, example, most)
	if strings.ContainsAny(text, "\r\n") {
		r.Fault(n, "write it on one line", "%s has a line break", what)
	}
	return text
}

// shortText is a text of at most so many characters, which can all be seen.
func shortText(r *strictyaml.Reader, n *yaml.Node, what, example string, most int) string {
	text, ok := r.Text(n, what, example)
	text = strings.TrimSpace(text)
	hidden := func(c rune) bool { return c != '\n' && !unicode.IsPrint(c) }
	switch length := utf8.RuneCountInString(text); {
	case !ok:
	case length > most:
		r.Fault(n, "say it shorter", "%s has %d characters, and may have %d", what, length, most)
	case strings.ContainsFunc(text, hidden):
		r.Fault(n, "remove it", "%s has a character that can't be seen", what)
	}
	return text
}
