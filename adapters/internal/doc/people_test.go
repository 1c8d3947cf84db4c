package doc_test

import (
	"testing"

	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

func TestNamesOfTokens(t *testing.T) {
	name := func(id string) string {
		card := core.Card{State: core.Open, Requested: core.Actor{ID: id}}
		for _, f := range doc.View(core.Delivery{Card: &card}, doc.Reader{Platform: "here"}).Fields {
			if f.Part == doc.AskedBy {
				return text(f.Value)
			}
		}
		return ""
	}
	for id, want := range map[string]string{
		"openharness:ann.B-2": "ann.B-2 on the web", "openharness:local": "somebody at gatehouse's own machine",
		"local":             "anyone at gatehouse's own machine",
		"openharness:*ann*": "", "openharness:": "", "openharness": "", "slack:U1": "", "discord:role:1": "",
		"teams:1": "", "": "",
	} {
		if got := name(id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}
