package web_test

import (
	"html"
	"net/http"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// TestRefusedPressesSaySo: the page is shown again, and says why nothing was decided.
func TestRefusedPressesSaySo(t *testing.T) {
	sealed, page := "a form of the page has no sealed value", "there is no page to show it on"
	without := map[string]string{
		"a button of another key": sealed, "a form of another key": sealed,
		"another word":            "the second step has a box to tick",
		"a button of one unknown": page, "a form of one unknown": page, "one that can't be looked up": page,
		"one that can't be stored": page,
	}
	adaptertest.RefusedPresses(t, "openharness:bob", without, func(t *testing.T, c adaptertest.Refusal) string {
		s := newSite(t)
		a := s.desk.open("a1", func(a *core.Approval) {
			a.State, a.DecidedBy, a.Question, a.Requester = c.Card.State, core.Actor{Name: c.Card.DecidedBy},
				c.Card.Question, c.Card.Requested
			a.Rule.Approvers, a.Rule.Edit, a.Rule.Reason = c.Card.Approvers, c.Card.Editable, c.Card.NeedsWhy
			for range c.Card.Edits {
				a.Votes = append(a.Votes, core.Vote{Actor: core.Actor{ID: "openharness:cid"}, Choice: core.Edit})
			}
		})
		choice := map[outbound.Action]string{outbound.ActionReason: "deny", outbound.ActionConfirm: "approve"}[c.Action]
		if choice == "" {
			choice = string(c.Action)
		}
		before := a.State
		w := s.post("bob", "/approvals/a1", "choice="+choice, "edits=0", "confirmed=yes", "changed="+c.Typed,
			"field-0=1", "field-1="+c.Typed)
		if w.Code < http.StatusBadRequest || a.State != before || s.decided != 0 {
			t.Errorf("answered %d; %+v", w.Code, a)
		}
		return html.UnescapeString(w.Body.String())
	})
}
