package main

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/prompts"
)

// promptSuite is the capability whose fixtures have backends and calls instead of a graph.
const promptSuite = "prompt-management"

// runPrompts runs every case of a file of prompts.
func runPrompts(ctx context.Context, base verdict, root *fixture.Node, throughProduct bool) []verdict {
	docs, single := []*fixture.Node{root}, !root.Has("cases")
	if !single {
		file := newRunner(ctx, root)
		file.guard(func() { docs = root.Peek("cases").Items() })
		if len(file.Faults) == 0 && len(docs) == 0 {
			file.Faults = []string{"fixture_schema_invalid: there are no cases"}
		}
		if len(file.Faults) > 0 {
			base.Faults = file.Faults
			return []verdict{base}
		}
	}
	var out []verdict
	for i, doc := range docs {
		v := base
		if !single {
			v.Case = fmt.Sprintf("case %d", i+1)
			if name := doc.Peek("name").Name(); name != "" {
				v.Case = name
			}
		}
		if throughProduct {
			v.NoCounterpart = "the suite is about prompts alone"
		} else {
			v.Faults = prompts.Run(ctx, root, doc)
		}
		out = append(out, v)
	}
	if !single && !throughProduct { // what is of the file as a whole is reported with its last case
		last := &out[len(out)-1]
		last.Faults = slices.Concat(last.Faults, prompts.Beside(root))
	}
	return out
}
