package web_test

import (
	"net/http"
	"strings"
	"testing"

	"gatehouse/core"
)

func batch(a *core.Approval) { a.Rule.Batch = true }

// TestSeveralAreDecidedTogether: each is a decision of its own; what is dangerous, hidden, changed meanwhile, decided
// already or not for several is none of them, and the page says what became of each.
func TestSeveralAreDecidedTogether(t *testing.T) {
	s := newSite(t)
	s.desk.open("a2", batch)
	s.desk.open("alone")
	s.desk.open("risky", batch, dangerous)
	s.desk.open("hidden", batch, called("login", `{"password":"hunter2"}`))
	s.desk.open("changed", batch, func(a *core.Approval) {
		a.Votes = []core.Vote{{Actor: core.Actor{ID: "openharness:bob", Name: "bob"}, Choice: core.Edit}}
	})
	s.desk.open("by", batch, decidedBy(core.Denied, "eve"))
	s.desk.open("a1", batch)
	of := func(id core.ApprovalID) *core.Approval { return s.desk.find(id) }
	page := s.get("bob", "/approvals").Body.String()
	for id, want := range map[string]bool{"a1": true, "a2": true, "alone": false, "risky": false, "hidden": false} {
		if got := strings.Contains(page, `name="pick" value="`+id+`"`); got != want {
			t.Errorf("%s can be ticked: %t", id, got)
		}
	}
	form := []string{"choice=approve"}
	for _, id := range []string{"a1", "a2", "alone", "risky", "hidden", "changed", "by", "none"} {
		form = append(form, "pick="+id, "edits-"+id+"=0")
	}
	w := s.post("bob", "/approvals", form...)
	expect(t, w, http.StatusSeeOther)
	for id, want := range map[core.ApprovalID]core.ApprovalState{
		"a1": core.Approved, "a2": core.Approved, "alone": core.Open, "risky": core.Open, "hidden": core.Open,
		"changed": core.Open, "by": core.Denied,
	} {
		if got := of(id).State; got != want {
			t.Errorf("%s is %s", id, got)
		}
	}
	expect(t, s.get("bob", w.Header().Get("Location")), http.StatusOK,
		"2 approved, 4 still wait for you: look at them one by one, 1 was already decided by eve.")
	expect(t, s.post("bob", "/approvals", "choice=deny", "pick=changed", "edits-changed=1", "reason=no"),
		http.StatusSeeOther)
	if a := of("changed"); a.State != core.Denied || a.Reason != "no" {
		t.Errorf("%+v", a)
	}
	expect(t, s.post("bob", "/approvals", "choice=approve"), http.StatusUnprocessableEntity, "Nothing is ticked")
	expect(t, s.post("bob", "/approvals", "choice=edit", "pick=alone"), http.StatusBadRequest)
	expect(t, s.post("ann", "/approvals", "choice=approve", "pick=alone", "edits-alone=0"), http.StatusSeeOther)
	if of("alone").State != core.Open {
		t.Error("somebody decided what is not theirs to decide")
	}
}

// TestTheListIsFiltered by what a reader is shown of a request, never by what is hidden from them.
func TestTheListIsFiltered(t *testing.T) {
	s := newSite(t)
	s.desk.open("milk")
	s.desk.open("login", called("vault.login", `{"password":"hunter2","to":"prod"}`))
	s.desk.open("zoe", func(a *core.Approval) { a.Requester = core.Actor{ID: "slack:U7", Name: "Zoë"} })
	s.desk.open("own", func(a *core.Approval) { a.Requester = core.Actor{ID: "openharness:bob", Name: "bob"} })
	s.desk.open("past", decidedBy(core.Approved, "bob"))
	for query, want := range map[string][]string{
		"":                   {"(milk)", "(login)", "(zoe)", "(own)", "(past)"},
		"tool=Vault":         {"!(milk)", "(login)", "!(zoe)"},
		"q=(ZOE":             {"!(milk)", "(zoe)"},
		"q=hunter2":          {"!(login)", "Nothing here fits the filter."},
		"by=zoë":             {"(zoe)", "!(milk)"},
		"by=U7":              {"(zoe)", "!(milk)"},
		"by=ann&tool=note":   {"(milk)", "!(zoe)", "(past)"},
		"show=mine":          {"(milk)", "!(own)", "!(past)"},
		"show=others":        {"!(milk)", "(own)", "!(past)"},
		"show=asked":         {"!(milk)", "(own)", "!(past)"},
		"show=decided":       {"!(milk)", "!(own)", "(past)"},
		"show=nothing":       {"(milk)", "(own)", "(past)"},
		"q=%22%5C%C3%A9&by=": {"!(milk)"},
	} {
		path := strings.ReplaceAll(strings.ReplaceAll("/approvals?"+query, " ", "+"), "ë", "%C3%AB")
		expect(t, s.get("bob", path), http.StatusOK, want...)
	}
}
