package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// The bounds of a file: its size, and how many values it has, those that an alias repeats counted again.
const (
	maxFile   = 1 << 20
	maxValues = 200_000
)

// reader reads the values of a YAML file and collects what is wrong with them. Its methods report a fault and return a zero value for what
// they can't read.
type reader struct {
	file   string
	faults Faults
	values int
}

func (r *reader) fault(line int, do, what string, args ...any) {
	r.faults = append(r.faults, Fault{File: r.file, Line: line, What: fmt.Sprintf(what, args...), Do: do})
}

// readFile reads a file that is not too large.
func (r *reader) readFile(path string) ([]byte, bool) {
	f, err := os.Open(path)
	if err != nil {
		r.fault(0, "correct the path, or let gatehouse read the file", "the file can't be read: %v", errors.Unwrap(err))
		return nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		r.fault(0, "name a file that gatehouse can read", "the file can't be read: %v", errors.Unwrap(err))
		return nil, false
	}
	return data, true
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// parse returns the file's one document.
func (r *reader) parse(data []byte) (root *yaml.Node) {
	if len(data) > maxFile {
		r.fault(0, "keep it under 1 MiB; use groups of Slack and roles of Discord for large groups", "the file is too large")
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			root = nil
			r.fault(1, "correct the YAML", "the file is no valid YAML: %v", p)
		}
	}()
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	err := documents.Decode(&first)
	if errors.Is(err, io.EOF) || err == nil && (len(first.Content) == 0 || first.Content[0].Tag == "!!null") {
		r.fault(1, "begin with version: 1, then people, groups and rules", "the file is empty")
		return nil
	}
	if err == nil {
		if err = documents.Decode(&second); err == nil {
			r.fault(second.Line, "remove the line --- and what follows it", "the file has several documents")
			return first.Content[0]
		}
	}
	if !errors.Is(err, io.EOF) {
		text, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
			text = strings.TrimPrefix(text, m[0])
		}
		r.fault(line, "correct the YAML there or just before it", "the file is no valid YAML: %s", text)
		return nil
	}
	return first.Content[0]
}

// follow returns what an alias stands for, and any other node as it is.
func (r *reader) follow(n *yaml.Node) *yaml.Node {
	if r.values++; r.values == maxValues+1 {
		r.fault(n.Line, "use fewer values and aliases", "the file has more than %d values", maxValues)
	}
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// exhausted reports whether there are too many values to go on.
func (r *reader) exhausted() bool { return r.values > maxValues }

// entry is a key of a mapping with its value.
type entry struct {
	key   string
	line  int // of the key
	value *yaml.Node
}

// entries returns those of a mapping in order. Unknown keys and repeated ones are faults; known nil: all keys are known.
func (r *reader) entries(n *yaml.Node, what string, known []string) []entry {
	if n.Kind != yaml.MappingNode {
		r.fault(n.Line, "write it as keys and values", "%s is %s, not a mapping", what, kindOfNode(n))
		return nil
	}
	var all []entry
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content) && !r.exhausted(); i += 2 {
		key, value := r.follow(n.Content[i]), r.follow(n.Content[i+1])
		line := n.Content[i].Line
		if key.Kind != yaml.ScalarNode {
			r.fault(line, "use a plain word as the key", "a key of %s is %s", what, kindOfNode(key))
			continue
		}
		name := key.Value
		before, repeated := seen[name]
		seen[name] = line
		switch {
		case repeated:
			r.fault(line, "remove one of the two", "the key %s is there twice, in line %d too", quoted(name), before)
		case key.Tag == "!!merge":
			r.fault(line, "write the keys out", "<< can't be used here")
		case known != nil && !slices.Contains(known, name):
			r.fault(line, meant(name, known), "unknown key %s in %s", quoted(name), what)
		default:
			all = append(all, entry{name, line, value})
		}
	}
	return all
}

// list returns the items of a list that has some.
func (r *reader) list(n *yaml.Node, what, example string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.fault(n.Line, "write it as a list, such as "+example, "%s is %s, not a list", what, kindOfNode(n))
		return nil
	}
	if len(n.Content) == 0 {
		r.fault(n.Line, "add to it, such as "+example+", or leave the key out", "%s is an empty list", what)
	}
	var all []*yaml.Node
	for _, item := range n.Content {
		if r.exhausted() {
			break
		}
		all = append(all, r.follow(item))
	}
	return all
}

// text returns a scalar that is not empty.
func (r *reader) text(n *yaml.Node, what, example string) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.fault(n.Line, "write a text, such as "+example, "%s is %s, not a text", what, kindOfNode(n))
	case n.Tag == "!!null" || strings.TrimSpace(n.Value) == "":
		r.fault(n.Line, "write a text, such as "+example, "%s is empty", what)
	default:
		return n.Value, true
	}
	return "", false
}

func (r *reader) bool(n *yaml.Node, what string) (value, ok bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.fault(n.Line, "write true or false", "%s is %s", what, valueOfNode(n))
		return false, false
	}
	return strings.EqualFold(n.Value, "true"), true
}

// count returns a whole number from 1.
func (r *reader) count(n *yaml.Node, what string) (int, bool) {
	value, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || err != nil || value < 1 {
		r.fault(n.Line, "write a whole number from 1", "%s is %s", what, valueOfNode(n))
		return 0, false
	}
	return value, true
}

// duration returns a duration above 0.
func (r *reader) duration(n *yaml.Node, what, example string) (time.Duration, bool) {
	d, ok := parseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || !ok:
		r.fault(n.Line, "write a duration, such as "+example, "%s is %s, no duration", what, valueOfNode(n))
	case d <= 0:
		r.fault(n.Line, "use a duration above 0, such as "+example, "%s is %s", what, quoted(n.Value))
	default:
		return d, true
	}
	return 0, false
}

// kindOfNode names the kind of a value in the file.
func kindOfNode(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "a mapping"
	}
	if n.Tag == "!!null" {
		return "empty"
	}
	return "a single value"
}

// valueOfNode shows a value of the file.
func valueOfNode(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		return quoted(n.Value)
	}
	return kindOfNode(n)
}
