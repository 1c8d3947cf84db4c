package doc_test

import (
	"testing"

	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// TestWhoCanReadWhatIsHidden is said only where somebody can, and to those who can't see it already.
func TestWhoCanReadWhatIsHidden(t *testing.T) {
	known := map[string]string{"slack:U2": "bob", "openharness:bob": "bob"}
	bob, ann := core.Actor{ID: "openharness:bob"}, core.Actor{ID: "openharness:ann"}
	for name, c := range map[string]struct {
		approvers []string
		people    map[string]string
		reader    doc.Reader
		said      bool
	}{
		"an approver of the page":     {[]string{"openharness:bob"}, nil, doc.Reader{}, true},
		"at gatehouse's machine":      {[]string{core.LocalPerson}, nil, doc.Reader{}, true},
		"with an account of the page": {[]string{"slack:U2"}, known, doc.Reader{}, true},
		"none of the page":            {[]string{"slack:U2", "discord:role:1"}, nil, doc.Reader{}, false},
		"another person's account":    {[]string{"slack:U3"}, known, doc.Reader{}, false},
		"to the approver on the page": {
			[]string{"openharness:bob"}, nil, doc.Reader{Apart: true, Who: bob}, false,
		},
		"to somebody else on the page":     {[]string{"openharness:bob"}, nil, doc.Reader{Apart: true, Who: ann}, true},
		"to whoever runs gatehouse":        {[]string{core.LocalPerson}, nil, doc.Reader{IDs: true}, false},
		"who asked may not decide, either": {[]string{"openharness:ann"}, nil, doc.Reader{}, false},
	} {
		card := core.Card{Approvers: c.approvers, People: c.people, Requested: ann, Hidden: 3}
		if got := doc.OnPage(card, c.reader); (got != "") != c.said {
			t.Errorf("%s: %q", name, got)
		}
	}
}
