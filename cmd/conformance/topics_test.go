package main

import (
	"errors"
	"testing"
)

// TestTopicsHoldOfEveryRightRun: a topic is asked on a word's ground alone, so its predicate must not fail where nothing is wrong.
func TestTopicsHoldOfEveryRightRun(t *testing.T) {
	roots := []string{"testdata/good"}
	if root := fixtures(); root != "" {
		for _, suite := range suites {
			roots = append(roots, root+"/"+suite)
		}
	}
	files, err := collect(roots)
	if err != nil {
		t.Fatal(err)
	}
	looked := map[string]bool{}
	for _, f := range files {
		root, err := loadDoc(f)
		if err != nil {
			t.Fatal(err)
		}
		cases := []*doc{root}
		if root.has("cases") {
			cases = root.get("cases").items()
		}
		for _, c := range cases {
			w := runCase(t.Context(), capabilityOf(f, root), c)
			if len(w.faults) > 0 || w.graph == nil {
				continue // the parts that are still to come; a graph that is refused
			}
			w.ctx = t.Context() // the case is over and so is its own
			for _, topic := range topics {
				switch err := topic.check(w, w.turns, c); {
				case errors.Is(err, errNothing):
				case err != nil:
					t.Errorf("%s, %s: topic %s: %v", f, c.get("name").text(), topic.name, err)
				default:
					looked[topic.name.String()] = true
				}
			}
		}
	}
	for _, topic := range topics {
		if !looked[topic.name.String()] {
			t.Errorf("topic %s found nothing to look at in any fixture", topic.name)
		}
	}
}
