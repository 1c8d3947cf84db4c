package tools

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

// maxFile bounds the file, in bytes, and maxValues how many values it has, those that aliases repeat counted again.
const (
	maxFile   = 1 << 20
	maxValues = 100_000
)

// reader reads the values of the file and collects what is wrong with them. Its methods report a fault and return a zero value for what they
// can't read.
type reader struct {
	file   string
	faults Faults
	values int
}

func (r *reader) fault(line int, do, what string, args ...any) {
	r.faults = append(r.faults, Fault{File: r.file, Line: line, What: fmt.Sprintf(what, args...), Do: do})
}

// readFile reads the file.
func (r *reader) readFile(path string) ([]byte, bool) {
	f, err := os.Open(path)
	if err != nil {
		r.fault(0, "correct the path, or let gatehouse read the file", "the file can't be read: %v", errors.Unwrap(err))
		return nil, false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		r.fault(0, "name a file that gatehouse can read", "the file can't be read: %v", errors.Unwrap(err))
		return nil, false
	case len(data) > maxFile:
		r.fault(0, "keep it under 1 MiB", "the file is too large")
		return nil, false
	}
	return data, true
}

// line is where the YAML library says that something is wrong.
var line = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\n\s*)?line (\d+): `)

// parse returns the file's one document.
func (r *reader) parse(data []byte) (root *yaml.Node) {
	defer func() {
		if p := recover(); p != nil { // the library panics on some texts
			root = nil
			r.fault(1, "correct the YAML", "the file is no valid YAML: %v", p)
		}
	}()
	documents := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	err := documents.Decode(&first)
	if errors.Is(err, io.EOF) || err == nil && (len(first.Content) == 0 || first.Content[0].Tag == "!!null") {
		r.fault(1, "begin with version: 1, then tools", "the file is empty")
		return nil
	}
	if err == nil {
		if err = documents.Decode(&second); err == nil {
			r.fault(second.Line, "remove the line --- and what follows it", "the file has several documents")
			return first.Content[0]
		}
	}
	if !errors.Is(err, io.EOF) {
		at, text := r.position(err, 1)
		r.fault(at, "correct the YAML there or just before it", "the file is no valid YAML: %s", text)
		return nil
	}
	return first.Content[0]
}

// position takes the line out of an error of the library.
func (r *reader) position(err error, otherwise int) (at int, text string) {
	text = err.Error()
	if m := line.FindStringSubmatch(text); m != nil {
		at, _ = strconv.Atoi(m[1])
		return at, strings.TrimPrefix(text, m[0])
	}
	return otherwise, strings.TrimPrefix(text, "yaml: ")
}

// follow returns what an alias stands for, and any other node as it is.
func (r *reader) follow(n *yaml.Node) *yaml.Node {
	if r.values++; r.values == maxValues {
		r.fault(n.Line, "use fewer values and aliases", "the file has more than %d values, with aliases written out", maxValues)
	}
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// entry is a key of a mapping with its value.
type entry struct {
	key   string
	line  int // of the key
	value *yaml.Node
}

// entries returns those of a mapping in order. Unknown keys and repeated ones are faults; known nil: all keys are known.
func (r *reader) entries(n *yaml.Node, what string, known []string) []entry {
	if n.Kind != yaml.MappingNode {
		r.fault(n.Line, "write it as keys and values", "%s is %s, not a mapping", what, kindOf(n))
		return nil
	}
	var all []entry
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content) && r.values < maxValues; i += 2 {
		key, value := r.follow(n.Content[i]), r.follow(n.Content[i+1])
		at, before := n.Content[i].Line, seen[key.Value]
		seen[key.Value] = at
		switch {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			r.fault(at, "use a plain word as the key", "a key of %s is %s", what, quoted(key.Value))
		case before > 0:
			r.fault(at, "remove one of the two", "the key %s is there twice, in line %d too", quoted(key.Value), before)
		case known != nil && !slices.Contains(known, key.Value):
			r.fault(at, meant(key.Value, known), "unknown key %s in %s", quoted(key.Value), what)
		default:
			all = append(all, entry{key.Value, at, value})
		}
	}
	return all
}

// list returns the items of a list that has some.
func (r *reader) list(n *yaml.Node, what, example string) (all []*yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.fault(n.Line, "write it as a list, such as "+example, "%s is %s", what, kindOf(n))
		return nil
	}
	for _, item := range n.Content {
		if r.values < maxValues {
			all = append(all, r.follow(item))
		}
	}
	return all
}

// text returns a scalar that is not empty.
func (r *reader) text(n *yaml.Node, what, example string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" {
		r.fault(n.Line, "write a text, such as "+example, "%s is %s", what, kindOf(n))
		return ""
	}
	return n.Value
}

// texts returns a list of texts.
func (r *reader) texts(n *yaml.Node, what, example string) (all []string) {
	for _, item := range r.list(n, what, example) {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			r.fault(item.Line, "write a text, in quotes if need be", "an item of %s is %s", what, kindOf(item))
			continue
		}
		all = append(all, item.Value)
	}
	return all
}

func (r *reader) bool(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.fault(n.Line, "write true or false", "%s is %s", what, quoted(n.Value))
	}
	return strings.EqualFold(n.Value, "true")
}

// duration returns one from a millisecond to an hour.
func (r *reader) duration(n *yaml.Node, what string) time.Duration {
	d, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || d < time.Millisecond || d > time.Hour {
		r.fault(n.Line, "write a duration of 1h or less, such as 30s", "%s is %s", what, quoted(n.Value))
		return 0
	}
	return d
}

// size returns a number of bytes within the bounds of results.
func (r *reader) size(n *yaml.Node, what string) int {
	digits, unit := n.Value, 1
	for suffix, by := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20} {
		if rest, found := strings.CutSuffix(n.Value, suffix); found {
			digits, unit = strings.TrimSpace(rest), by
		}
	}
	count, err := strconv.Atoi(digits)
	if n.Kind != yaml.ScalarNode || err != nil || count > maxOutput || count*unit < minOutput || count*unit > maxOutput {
		r.fault(n.Line, "write a size from 1KiB to 1MiB, such as 16KiB", "%s is %s", what, quoted(n.Value))
		return 0
	}
	return count * unit
}

// kindOf names what a node is.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Tag == "!!null" || strings.TrimSpace(n.Value) == "":
		return "empty"
	}
	return quoted(n.Value)
}
