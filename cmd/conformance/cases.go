package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/invariant"
)

// runFile runs every case of a file.
func runFile(ctx context.Context, path string, throughProduct bool) []verdict {
	base := verdict{File: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".yml"), Case: "case"}
	root, err := fixture.Load(path)
	if err != nil {
		base.Capability, base.Faults = "unknown", []string{"fixture_schema_invalid: " + err.Error()}
		return []verdict{base}
	}
	base.Capability = capabilityOf(path, root)
	if s, is := callSuites[base.Capability]; is {
		return s.runFile(ctx, base, root, throughProduct)
	}
	if !root.Has("cases") {
		base.result = runCase(ctx, base.Capability, root, throughProduct).result
		return []verdict{base}
	}
	file := newRunner(ctx, root) // for the keys next to the cases
	var cases []*fixture.Node
	file.Guard(func() { cases = root.Get("cases").Items() })
	if len(file.Faults) == 0 && len(cases) == 0 {
		file.Faults = []string{"fixture_schema_invalid: there are no cases"}
	}
	if len(file.Faults) > 0 {
		base.Faults = file.Faults
		return []verdict{base}
	}
	var out []verdict
	var turns []*evidence.Turn
	for i, doc := range cases {
		v := base
		v.Case = fmt.Sprintf("case %d", i+1)
		if name := doc.Peek("name").Name(); name != "" {
			v.Case = name
		}
		r := runCase(ctx, base.Capability, doc, throughProduct)
		v.result = r.result
		turns = append(turns, r.Turns...)
		file.Case = r.Case
		out = append(out, v)
	}
	file.beside(root, turns, base.Capability)
	last := &out[len(out)-1] // what is of the file as a whole is reported with its last case
	if last.NoCounterpart == "" {
		last.Faults, last.Unchecked = append(last.Faults, file.Faults...), append(last.Unchecked, file.Unchecked...)
	}
	return out
}

// beside reads the keys next to the cases: invariants of the file as a whole.
func (r *runner) beside(root *fixture.Node, turns []*evidence.Turn, capability string) {
	root.Each(func(key string, v *fixture.Node) bool {
		switch key {
		case "cases", "name", "description", "conformance_version":
			return true
		case "invariants":
			if !slices.Contains(unsupportedSuites, capability) {
				r.Guard(func() { r.invariants(v, turns) })
			}
			return true
		}
		r.Faults = append(r.Faults, "fixture_directive_unknown: "+key)
		return false
	})
}

// runCase runs one case on its own graph and stores.
func runCase(ctx context.Context, capability string, doc *fixture.Node, throughProduct bool) *runner {
	ctx, cancel := context.WithTimeout(ctx, 3*evidence.Patience) // a graph may loop forever
	defer cancel()
	r := newRunner(ctx, doc)
	if slices.Contains(unsupportedSuites, capability) {
		r.Faults = append(r.Faults, fmt.Sprintf("needs %s: not supported yet", capability))
		return r
	}
	r.Guard(func() {
		if !doc.IsMapping() {
			doc.Malformed("a case must be a mapping")
		}
		doc.Get("name").Text()
		doc.Get("description")
		if throughProduct {
			if r.NoCounterpart = noCounterpart(capability, doc); r.NoCounterpart != "" {
				return
			}
			r.product = true
		}
		defer r.startModels()()
		if !r.setup() {
			return
		}
		if throughProduct {
			defer r.startProduct()()
		}
		switch {
		case doc.Has("chat_turns"):
			r.runChat()
		case doc.Has("transmissions"):
			r.runTransmissions()
		default:
			r.runEngine()
		}
		r.invariants(doc.Get("invariants"), r.Turns)
		r.Unread(r.doc)
	})
	return r
}

// invariants checks every name of a mapping. A name that is not published is reported as unchecked.
func (r *runner) invariants(d *fixture.Node, turns []*evidence.Turn) {
	if d == nil {
		return
	}
	d.All(func(name string, v *fixture.Node) {
		v.Value() // counts as read, even if nothing checks it
		holds, known := invariant.Named(name)
		if !known {
			r.Unchecked = append(r.Unchecked, name)
			return
		}
		if r.withoutCounterpart(name, v) {
			return
		}
		if err := holds(r.Case, turns, v); err != nil {
			r.Fault(v, "%v", err)
		}
	})
}
