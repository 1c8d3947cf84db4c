package doc_test

import (
	"testing"

	"gatehouse/adapters/internal/doc"
)

func TestNamesOfTokens(t *testing.T) {
	for id, want := range map[string]string{
		"openharness:ann.B-2": "ann.B-2 on the web", "openharness:local": "somebody at gatehouse's own machine", "local": "anyone at gatehouse's own machine",
		"openharness:*ann*": "", "openharness:": "", "openharness": "", "slack:U1": "", "discord:role:1": "", "teams:1": "", "": "",
	} {
		if got := doc.TokenName(id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}
