package main

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/prompts"
	"gatehouse/cmd/conformance/internal/providers"
)

// The capabilities whose fixtures have calls instead of a graph.
const (
	promptSuite   = "prompt-management"
	providerSuite = "llm-provider"
)

// callSuite runs the fixtures of such a capability.
type callSuite struct {
	outside string // why a case has no counterpart in the product
	run     func(ctx context.Context, root, doc *fixture.Node) (faults, unchecked []string)
}

var callSuites = map[string]callSuite{
	promptSuite: {
		"the suite is about prompts alone", func(ctx context.Context, root, doc *fixture.Node) ([]string, []string) {
			return prompts.Run(ctx, root, doc), nil
		},
	},
	providerSuite: {"the suite is about providers alone", providers.Run},
}

// runFile runs every case of a file.
func (s callSuite) runFile(ctx context.Context, base verdict, root *fixture.Node, throughProduct bool) []verdict {
	docs, single := []*fixture.Node{root}, !root.Has("cases")
	if !single {
		var file fixture.Case
		file.Guard(func() { docs = root.Peek("cases").Items() })
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
			v.NoCounterpart = s.outside
		} else {
			v.Faults, v.Unchecked = s.run(ctx, root, doc)
		}
		out = append(out, v)
	}
	if !single && !throughProduct { // what is of the file as a whole is reported with its last case
		last := &out[len(out)-1]
		last.Faults = slices.Concat(last.Faults, fixture.Beside(root))
	}
	return out
}
