package strictyaml

import (
	"encoding/json"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Entry is a key of a mapping with its value.
type Entry struct {
	Key   string
	At    *yaml.Node // the key
	Value *yaml.Node
}

// Entries returns those of a mapping in order. Unknown keys and repeated ones are faults; known nil: all keys are
// known.
func (r *Reader) Entries(n *yaml.Node, what string, known []string) []Entry {
	if n.Kind != yaml.MappingNode {
		r.Fault(n, "write it as keys and values", "%s is %s, not a mapping", what, Shown(n))
		return nil
	}
	var all []Entry
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content) && !r.Exhausted(); i += 2 {
		at, value := n.Content[i], r.follow(n.Content[i+1])
		key := r.follow(at)
		if key.Kind != yaml.ScalarNode {
			r.Fault(at, "use a plain word as the key", "a key of %s is %s", what, Shown(key))
			continue
		}
		name := key.Value
		before, repeated := seen[name]
		seen[name] = at.Line
		switch {
		case repeated:
			r.Fault(at, "remove one of the two", "the key %s is there twice, in line %d too", Quoted(name), before)
		case key.Tag == "!!merge":
			r.Fault(at, "write the keys out", "<< can't be used here")
		case known != nil && !slices.Contains(known, name):
			r.Fault(at, Meant(name, known), "unknown key %s in %s", Quoted(name), what)
		default:
			all = append(all, Entry{name, at, value})
		}
	}
	return all
}

// Values is Entries by their keys, for mappings in which the order does not count.
func (r *Reader) Values(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	all := map[string]*yaml.Node{}
	for _, e := range r.Entries(n, what, known) {
		all[e.Key] = e.Value
	}
	return all
}

// Items returns the items of a list.
func (r *Reader) Items(n *yaml.Node, what, example string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "write it as a list, such as "+example, "%s is %s, not a list", what, Shown(n))
		return nil
	}
	var all []*yaml.Node
	for _, item := range n.Content {
		if r.Exhausted() {
			break
		}
		all = append(all, r.follow(item))
	}
	return all
}

// List returns the items of a list that must have some.
func (r *Reader) List(n *yaml.Node, what, example string) []*yaml.Node {
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.Fault(n, "add to it, such as "+example+", or leave the key out", "%s is an empty list", what)
	}
	return r.Items(n, what, example)
}

// Text returns a single value that is not empty, as it is written. ok is false after a fault.
func (r *Reader) Text(n *yaml.Node, what, example string) (text string, ok bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		r.Fault(n, "write a text, such as "+example, "%s is %s, not a text", what, Shown(n))
	case isEmpty(n):
		r.Fault(n, "write a text, such as "+example, "%s is empty", what)
	default:
		return n.Value, true
	}
	return "", false
}

// Texts returns the items of a list that must have some; each is a single value, and may be an empty one in quotes.
func (r *Reader) Texts(n *yaml.Node, what, example string) (all []string) {
	for _, item := range r.List(n, what, example) {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			r.Fault(item, "write a text, in quotes if need be", "an item of %s is %s", what, Shown(item))
			continue
		}
		all = append(all, item.Value)
	}
	return all
}

// Word returns one of some words. ok is false after a fault.
func (r *Reader) Word(n *yaml.Node, what string, known []string) (word string, ok bool) {
	text, ok := r.Text(n, what, known[0])
	if ok && !slices.Contains(known, text) {
		r.Fault(n, Meant(text, known), "unknown %s %s", what, Quoted(text))
		return "", false
	}
	return text, ok
}

// Bool returns true or false; false after a fault.
func (r *Reader) Bool(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.Fault(n, "write true or false", "%s is %s", what, Shown(n))
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// Version checks that a file is of version 1, the only one of each of our formats. n is nil where root, a mapping, has
// no version.
func (r *Reader) Version(root, n *yaml.Node) {
	if n == nil {
		r.Fault(root, "add version: 1", "the version is missing")
	} else if n.Tag != "!!int" || n.Value != "1" {
		r.Fault(n, "write version: 1", "unknown version %s", Shown(n))
	}
}

// JSON returns any value as JSON. What JSON has no form for is a fault.
func (r *Reader) JSON(n *yaml.Node, what string) (text json.RawMessage, ok bool) {
	var value any
	if err := n.Decode(&value); err != nil {
		at := *n
		line, why := position(err)
		if line > 0 && line != n.Line {
			at.Line, at.Column = line, 0
		}
		r.Fault(&at, "correct it", "%s can't be read: %s", what, why)
		return nil, false
	}
	text, err := json.Marshal(value)
	if err != nil {
		r.Fault(n, "use texts as keys, and numbers that JSON has", "%s can't be written as JSON: %v", what, err)
	}
	return text, err == nil
}

// Shown is a value as faults show it.
func Shown(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case isEmpty(n):
		return "empty"
	}
	return Quoted(n.Value)
}

// isEmpty reports whether a single value is null or blank.
func isEmpty(n *yaml.Node) bool { return n.Tag == "!!null" || strings.TrimSpace(n.Value) == "" }
