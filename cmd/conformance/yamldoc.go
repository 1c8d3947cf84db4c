package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"gopkg.in/yaml.v3"
)

// doc is a place in a fixture. It keeps the order of the file and remembers which keys were read, so that a key that nobody knew
// can be told.
type doc struct {
	node *yaml.Node
	path string
	used map[*yaml.Node]bool // keys, shared by all places of a file
}

// schemaFault is a key that is known but malformed. It is panicked and caught where a case ends (runCase).
type schemaFault struct{ text string }

func (d *doc) malformed(format string, args ...any) {
	panic(schemaFault{fmt.Sprintf("fixture_schema_invalid: %s: %s", d.path, fmt.Sprintf(format, args...))})
}

func loadDoc(path string) (*doc, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var root, second yaml.Node
	in := yaml.NewDecoder(bytes.NewReader(data))
	if err := in.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(root.Content) != 1 || resolve(root.Content[0]).Kind != yaml.MappingNode || !errors.Is(in.Decode(&second), io.EOF) {
		return nil, fmt.Errorf("a fixture must be one mapping")
	}
	if key := doubled(&root); key != nil {
		return nil, fmt.Errorf("line %d: the key %q stands there twice", key.Line, key.Value)
	}
	return &doc{node: resolve(root.Content[0]), used: map[*yaml.Node]bool{}}, nil
}

// doubled is a key that its mapping has twice; nil where there is none.
func doubled(n *yaml.Node) *yaml.Node {
	seen := map[string]bool{}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[c.Value] {
				return c
			}
			seen[c.Value] = true
		}
		if key := doubled(c); key != nil {
			return key
		}
	}
	return nil
}

func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func (d *doc) child(n *yaml.Node, step string) *doc {
	path := step
	if d.path != "" {
		path = d.path + "." + step
	}
	return &doc{node: resolve(n), path: path, used: d.used}
}

// get reads a key of a mapping; nil where it is not there.
func (d *doc) get(key string) *doc {
	if d == nil || d.node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(d.node.Content); i += 2 {
		if d.node.Content[i].Value == key {
			d.used[d.node.Content[i]] = true
			return d.child(d.node.Content[i+1], key)
		}
	}
	return nil
}

// need is get for a key that must be there.
func (d *doc) need(key string) *doc {
	v := d.get(key)
	if v == nil {
		d.malformed("%q is missing", key)
	}
	return v
}

// has asks for a key without reading it.
func (d *doc) has(key string) bool {
	if d == nil || d.node.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(d.node.Content); i += 2 {
		if d.node.Content[i].Value == key {
			return true
		}
	}
	return false
}

// each visits the keys of a mapping in the order of the file; a key counts as read where visit says so.
func (d *doc) each(visit func(key string, v *doc) bool) {
	if d == nil {
		return
	}
	if d.node.Kind != yaml.MappingNode {
		d.malformed("must be a mapping")
	}
	for i := 0; i+1 < len(d.node.Content); i += 2 {
		key := d.node.Content[i]
		if visit(key.Value, d.child(d.node.Content[i+1], key.Value)) {
			d.used[key] = true
		}
	}
}

// all visits every key and counts it as read.
func (d *doc) all(visit func(key string, v *doc)) {
	d.each(func(key string, v *doc) bool { visit(key, v); return true })
}

// items are the members of a list.
func (d *doc) items() []*doc {
	if d == nil {
		return nil
	}
	if d.node.Kind != yaml.SequenceNode {
		d.malformed("must be a list")
	}
	out := make([]*doc, len(d.node.Content))
	for i, n := range d.node.Content {
		out[i] = d.child(n, strconv.Itoa(i))
	}
	return out
}

func (d *doc) isMapping() bool { return d != nil && d.node.Kind == yaml.MappingNode }
func (d *doc) isNull() bool    { return d == nil || d.node.Tag == "!!null" }

// text is a scalar as it is written; "" where d is nil.
func (d *doc) text() string {
	if d == nil {
		return ""
	}
	if d.node.Kind != yaml.ScalarNode {
		d.malformed("must be a text")
	}
	return d.node.Value
}

// value reads everything below as nil, bool, int64, float64, string, []any and map[string]any.
func (d *doc) value() any {
	if d == nil {
		return nil
	}
	switch d.node.Kind {
	case yaml.SequenceNode:
		out := []any{}
		for _, item := range d.items() {
			out = append(out, item.value())
		}
		return out
	case yaml.MappingNode:
		out := map[string]any{}
		d.all(func(key string, v *doc) { out[key] = v.value() })
		return out
	}
	switch d.node.Tag {
	case "!!null":
		return nil
	case "!!bool":
		b, err := strconv.ParseBool(d.node.Value)
		if err != nil {
			d.malformed("%q is no bool", d.node.Value)
		}
		return b
	case "!!int":
		var n int64
		if err := d.node.Decode(&n); err != nil {
			d.malformed("%v", err)
		}
		return n
	case "!!float":
		var f float64
		if err := d.node.Decode(&f); err != nil {
			d.malformed("%v", err)
		}
		return f
	}
	return d.node.Value
}

// fields is value for a mapping; nil and null are an empty one.
func (d *doc) fields() map[string]any {
	if d.isNull() {
		return map[string]any{}
	}
	m, ok := d.value().(map[string]any)
	if !ok {
		d.malformed("must be a mapping")
	}
	return m
}

// flag is a bool; def where d is nil.
func (d *doc) flag(def bool) bool {
	if d == nil {
		return def
	}
	b, ok := d.value().(bool)
	if !ok {
		d.malformed("must be true or false")
	}
	return b
}

func (d *doc) number() float64 {
	switch n := d.value().(type) {
	case int64:
		return float64(n)
	case float64:
		return n
	}
	d.malformed("must be a number")
	return 0
}

// mentions reports whether a key stands anywhere below, without reading it.
func (d *doc) mentions(key string) bool { return mentions(d.node, key) }

func mentions(n *yaml.Node, key string) bool {
	n = resolve(n)
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if c.Value == key {
				return true
			}
			continue
		}
		if mentions(c, key) {
			return true
		}
	}
	return false
}

// leftovers are the paths of keys that were never read.
func (d *doc) leftovers() []string {
	var out []string
	switch d.node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(d.node.Content); i += 2 {
			child := d.child(d.node.Content[i+1], d.node.Content[i].Value)
			if !d.used[d.node.Content[i]] {
				out = append(out, child.path)
				continue
			}
			out = append(out, child.leftovers()...)
		}
	case yaml.SequenceNode:
		for _, item := range d.items() {
			out = append(out, item.leftovers()...)
		}
	}
	return out
}
