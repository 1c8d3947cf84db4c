package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// runFile runs every case of a file.
func runFile(ctx context.Context, path string) []verdict {
	base := verdict{File: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".yml"), Case: "case"}
	root, err := loadDoc(path)
	if err != nil {
		base.Capability, base.Faults = "unknown", []string{"fixture_schema_invalid: " + err.Error()}
		return []verdict{base}
	}
	base.Capability = capabilityOf(path, root)
	if !root.has("cases") {
		w := runCase(ctx, base.Capability, root)
		base.Faults, base.Unchecked = w.faults, w.unchecked
		return []verdict{base}
	}
	var out []verdict
	all := &world{ctx: ctx}
	var cases []*doc
	all.guard(func() { cases = root.get("cases").items() })
	if len(all.faults) > 0 {
		base.Faults = all.faults
		return []verdict{base}
	}
	for i, c := range cases {
		v := base
		v.Case = fmt.Sprintf("case %d", i+1)
		if name := peek(c, "name"); name != nil && name.node.Kind == yaml.ScalarNode && name.node.Value != "" {
			v.Case = name.node.Value
		}
		w := runCase(ctx, base.Capability, c)
		v.Faults, v.Unchecked = w.faults, w.unchecked
		all.join(w)
		out = append(out, v)
	}
	if len(out) == 0 {
		base.Faults = []string{"fixture_schema_invalid: there are no cases"}
		return []verdict{base}
	}
	// what stands beside the cases is of the file as a whole; it is told with the last case
	if root.has("invariants") && unsupported(base.Capability) == "" {
		all.guard(func() { all.invariants(root.get("invariants"), all.turns) })
	}
	root.each(func(key string, v *doc) bool {
		switch key {
		case "cases", "name", "description", "conformance_version":
			return true
		case "invariants":
			v.value()
			return true
		}
		all.faults = append(all.faults, "fixture_directive_unknown: "+key)
		return false
	})
	last := &out[len(out)-1]
	last.Faults, last.Unchecked = append(last.Faults, all.faults...), append(last.Unchecked, all.unchecked...)
	return out
}

// join adds what happened in another world.
func (w *world) join(o *world) {
	w.turns = append(w.turns, o.turns...)
	w.migrated = append(w.migrated, o.migrated...)
	w.spy, w.graph, w.stores, w.ears, w.c = o.spy, o.graph, o.stores, o.ears, o.c
}

// runCase runs one case in a world of its own.
func runCase(ctx context.Context, capability string, c *doc) *world {
	ctx, cancel := context.WithTimeout(ctx, 3*patience) // a graph may run in circles
	defer cancel()
	w := &world{ctx: ctx, c: c, journal: &journal{}, ears: &ears{}, listeners: map[string]*listening{}}
	if reason := unsupported(capability); reason != "" {
		w.faults = append(w.faults, reason)
		return w
	}
	w.guard(func() {
		if !c.isMapping() {
			c.malformed("a case must be a mapping")
		}
		c.get("name").text()
		c.get("description")
		if !w.setup() {
			return
		}
		switch {
		case c.has("chat_turns"):
			w.runChat()
		case c.has("transmissions"):
			w.runTransmissions()
		default:
			w.runEngine()
		}
		w.invariants(c.get("invariants"), w.turns)
		for _, path := range c.leftovers() {
			w.faults = append(w.faults, "fixture_directive_unknown: "+path)
		}
	})
	return w
}

// guard turns a malformed fixture, and a panic of ours, into a fault of the case.
func (w *world) guard(f func()) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case schemaFault:
			w.faults = append(w.faults, p.text)
		default:
			w.faults = append(w.faults, fmt.Sprintf("the runner panicked: %v", p))
		}
	}()
	f()
}
