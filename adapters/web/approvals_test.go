package web_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// change functions for desk.open.
func dangerous(a *core.Approval) { a.Call.Risk = core.Dangerous }

func called(tool, arguments string) func(*core.Approval) {
	return func(a *core.Approval) {
		a.Call.Tool, a.Call.Arguments = tool, json.RawMessage(arguments)
		seal(a)
	}
}

func seal(a *core.Approval) {
	digest, err := tool.Digest(a.Call.Tool, a.Call.Arguments)
	if err != nil {
		panic(err)
	}
	a.Call.Digest = digest
}

func decidedBy(state core.ApprovalState, who string) func(*core.Approval) {
	return func(a *core.Approval) {
		a.State, a.DecidedBy, a.DecidedAt = state, core.Actor{ID: "openharness:" + who, Name: who},
			noon.Add(-time.Minute)
	}
}

func TestAPersonSeesWhatConcernsThem(t *testing.T) {
	s := newSite(t)
	s.desk.open("mine")
	s.desk.open("foreign", func(a *core.Approval) {
		a.Requester, a.Rule.Approvers = core.Actor{ID: "slack:U1", Name: "zoe"}, []string{"slack:U2"}
	})
	s.desk.open("past", decidedBy(core.Approved, "bob"))
	s.desk.open("foreign-past", decidedBy(core.Denied, "bob"), func(a *core.Approval) {
		a.Requester, a.Rule.Approvers = core.Actor{ID: "slack:U1"}, []string{"slack:U2"}
	})
	expect(t, s.get("ann", "/approvals"), http.StatusOK, "(mine)", "(past)", "!(foreign)", "!(foreign-past)",
		"bob decides", "approved by bob")
	expect(t, s.get("ann", "/approvals/mine"), http.StatusOK, "<p class=\"note\">bob decides.</p>", "!>Approve<",
		">Withdraw<", "!Conversation")
	expect(t, s.get("bob", "/approvals"), http.StatusOK, "(mine)", "(past)", "!(foreign)", "in 2 hours",
		"approved by you")
	expect(t, s.get("bob", "/approvals/mine"), http.StatusOK, ">Approve<", ">Deny<", "!Withdraw", "3 minutes ago",
		"in 2 hours", "please note milk")
	expect(t, s.get("root", "/approvals"), http.StatusOK, "(mine)", "(foreign)", "(past)", "(foreign-past)")
	expect(t, s.get("root", "/approvals/mine"), http.StatusOK, "!>Approve<", "openharness:oh/ann/web", "bob decides.")
	expect(t, s.get("root", "/approvals/foreign"), http.StatusOK, "people who are notified elsewhere")
	for who, want := range map[string]int{
		"ann": http.StatusNotFound, "bob": http.StatusNotFound, "root": http.StatusOK,
	} {
		expect(t, s.get(who, "/approvals/foreign"), want)
	}
	expect(t, s.get("ann", "/approvals/none"), http.StatusNotFound,
		"There is no such approval, or it is not for you to see.")
	expect(t, s.get("ann", "/approvals/foreign"), http.StatusNotFound,
		"There is no such approval, or it is not for you to see.")
	expect(t, s.get("ann", "/approvals?decided=foreign"), http.StatusOK, "!(foreign)", "!zoe")
}

// TestWhatWaitsForTheReaderComesFirst, then what waits for others; the newest first within each.
func TestWhatWaitsForTheReaderComesFirst(t *testing.T) {
	s := newSite(t)
	two := func(a *core.Approval) { a.Rule.Quorum = 2 }
	s.desk.open("old")
	s.desk.open("voted", two, func(a *core.Approval) {
		a.Votes = []core.Vote{{Actor: core.Actor{ID: "openharness:bob", Name: "bob"}, Choice: core.Approve}}
	})
	s.desk.open("new")
	s.desk.open("own", func(a *core.Approval) { a.Requester = core.Actor{ID: "openharness:bob", Name: "bob"} })
	page := s.get("bob", "/approvals").Body.String()
	last := 0
	for _, id := range []string{"(new)", "(old)", "(own)", "(voted)"} {
		at := strings.Index(page, id)
		if at < last {
			t.Errorf("%s is at %d, after %d", id, at, last)
		}
		last = at
	}
	if !strings.Contains(page, "1 of 2: bob") ||
		!strings.Contains(page, "You asked for this yourself, so another approver has to decide") {
		t.Error(excerpt(page))
	}
}

func TestApproving(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1")
	w := s.post("bob", "/approvals/a1", "choice=approve", "edits=0")
	expect(t, w, http.StatusSeeOther)
	if a.State != core.Approved || a.DecidedBy.ID != "openharness:bob" || s.decided != 1 {
		t.Fatalf("%+v, told %d times", a, s.decided)
	}
	expect(t, s.get("bob", w.Header().Get("Location")), http.StatusOK, `role="status"`,
		"This was approved by bob at 2026-11-22 12:00 UTC.", "Nothing waits for your decision.",
		"approved by you")
	again := s.post("bob", "/approvals/a1", "choice=deny", "edits=0")
	expect(t, again, http.StatusConflict, `<p class="note" role="alert">This was approved by bob`)
	if s.decided != 1 {
		t.Errorf("told %d times", s.decided)
	}
}

func TestDenyingWithAReason(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1", func(a *core.Approval) { a.Rule.Reason = true })
	expect(t, s.get("bob", "/approvals/a1"), http.StatusOK, "required", "!(optional)")
	expect(t, s.post("bob", "/approvals/a1", "choice=deny", "edits=0", "reason=  "), http.StatusBadRequest,
		"To deny this, a reason is needed.")
	expect(t, s.post("bob", "/approvals/a1", "choice=deny", "edits=0", "reason=we have <enough>"), http.StatusSeeOther)
	if a.State != core.Denied || a.Reason != "we have <enough>" {
		t.Errorf("%+v", a)
	}
	expect(t, s.get("ann", "/approvals/a1"), http.StatusOK, "we have &lt;enough&gt;",
		"<dt>Denied by</dt><dd dir=\"auto\">bob, <time")
}

// TestASecondStepForWhatIsDangerousOrHidden: nothing is approved without the tick, and the page of that step shows
// everything.
func TestASecondStepForWhatIsDangerousOrHidden(t *testing.T) {
	for name, change := range map[string]func(*core.Approval){
		"dangerous": dangerous, "hidden": called("login", `{"password":"hunter2","to":"prod"}`),
	} {
		s := newSite(t)
		a := s.desk.open("a1", change)
		expect(t, s.get("bob", "/approvals/a1"), http.StatusOK, "Review, then approve", "!>Approve<", "!hunter2")
		expect(t, s.get("bob", "/approvals"), http.StatusOK, "!hunter2")
		w := s.post("bob", "/approvals/a1", "choice=approve", "edits=0")
		expect(t, w, http.StatusUnprocessableEntity, "Nothing is approved yet.", `name="confirmed"`)
		if a.State != core.Open || s.decided != 0 {
			t.Fatalf("%s: %+v", name, a)
		}
		expect(t, s.get("bob", "/approvals/a1?review=1"), http.StatusOK, `name="confirmed"`, "required", ">Approve<",
			"<pre ", `class="caution"`)
		expect(t, s.get("ann", "/approvals/a1?review=1"), http.StatusOK, `!name="confirmed"`)
		expect(t, s.post("bob", "/approvals/a1", "choice=approve", "edits=0", "confirmed=yes"), http.StatusSeeOther)
		if a.State != core.Approved {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func TestAnAlteredRequestCanOnlyBeDenied(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1", func(a *core.Approval) { a.Call.Arguments = json.RawMessage(`{"text":"something else"}`) })
	expect(t, s.get("bob", "/approvals/a1?review=1"), http.StatusOK, "is not the one that was asked for", "!>Approve<",
		">Deny<")
	expect(t, s.post("bob", "/approvals/a1", "choice=deny", "edits=0"), http.StatusSeeOther)
	if a.State != core.Denied {
		t.Errorf("%+v", a)
	}
}

// TestNobodyApprovesWhatTheyHaveNotSeen: the arguments were changed after the page was loaded.
func TestNobodyApprovesWhatTheyHaveNotSeen(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1", func(a *core.Approval) {
		a.Votes = []core.Vote{{Actor: core.Actor{ID: "openharness:bob", Name: "bob"}, Choice: core.Edit}}
	})
	expect(t, s.post("bob", "/approvals/a1", "choice=approve", "edits=0"), http.StatusConflict,
		"The arguments were changed after this card was drawn", `name="edits" value="1"`, "Changed by bob.")
	if a.State != core.Open {
		t.Errorf("%+v", a)
	}
	expect(t, s.post("bob", "/approvals/a1", "choice=approve", "edits=1"), http.StatusSeeOther)
}

func TestWhoMayNotDecideIsRefused(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1")
	expect(t, s.post("ann", "/approvals/a1", "choice=approve", "edits=0"), http.StatusForbidden,
		`<p class="fault" role="alert">bob decides.</p>`)
	expect(t, s.post("root", "/approvals/a1", "choice=deny", "edits=0"), http.StatusForbidden,
		"You are not an approver of this request.")
	expect(t, s.post("bob", "/approvals/a1", "choice=withdraw", "edits=0"), http.StatusForbidden,
		"Only the person who asked can withdraw this request.")
	a.Rule.Approvers, a.Requester = []string{"slack:U2"}, core.Actor{ID: "slack:U1"}
	expect(t, s.post("bob", "/approvals/a1", "choice=approve", "edits=0"), http.StatusNotFound)
	if a.State != core.Open || s.decided != 0 {
		t.Errorf("%+v", a)
	}
}

func TestWithdrawing(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1")
	expect(t, s.post("ann", "/approvals/a1", "choice=withdraw", "edits=7"), http.StatusSeeOther)
	if a.State != core.Cancelled {
		t.Errorf("%+v", a)
	}
}

func TestAVoteOfSeveralIsSaid(t *testing.T) {
	s := newSite(t)
	s.desk.open("a1", func(a *core.Approval) {
		a.Rule.Quorum, a.Rule.Approvers = 2, []string{"openharness:bob", "openharness:root"}
	})
	w := s.post("bob", "/approvals/a1", "choice=approve", "edits=0")
	expect(t, s.get("bob", w.Header().Get("Location")), http.StatusOK,
		"Your approval is stored. It is number 1 of the 2 that are needed.", "Approved so far 1 of 2: bob",
		"Waiting for others")
	expect(t, s.get("root", "/approvals/a1"), http.StatusOK, ">Approve (2 of 2)<", "Approval needed")
}

// TestADoubleClickEndsOnGreen: so does a second approver, who is told who decided.
func TestADoubleClickEndsOnGreen(t *testing.T) {
	both := func(quorum int) func(*core.Approval) {
		return func(a *core.Approval) {
			a.Rule.Quorum, a.Rule.Approvers = quorum, []string{"openharness:bob", "openharness:root"}
		}
	}
	for _, c := range []struct {
		quorum int
		second string
		said   string
	}{
		{1, "bob", "This was approved by bob at 2026-11-22 12:00 UTC."},
		{1, "root", "This was approved by bob at 2026-11-22 12:00 UTC."},
		{2, "bob", "Your approval is stored. It is number 1 of the 2 that are needed."},
	} {
		s := newSite(t)
		s.desk.open("a1", both(c.quorum))
		for _, who := range []string{"bob", c.second} {
			w := s.post(who, "/approvals/a1", "choice=approve", "edits=0")
			expect(t, w, http.StatusSeeOther)
			expect(t, s.get(who, w.Header().Get("Location")), http.StatusOK, `role="status"`, c.said, "!role=\"alert\"",
				`!class="fault"`, `!class="said denied"`)
		}
		if s.decided != 1 {
			t.Errorf("%+v: decided %d times", c, s.decided)
		}
	}
}

// TestTheFirstOfTwoIsToldSo: who comes then, before it is approved.
func TestTheFirstOfTwoIsToldSo(t *testing.T) {
	s := newSite(t)
	s.desk.open("a1", func(a *core.Approval) {
		a.Rule.Quorum, a.Rule.Approvers = 2, []string{"openharness:bob", "openharness:root"}
	}, dangerous)
	expect(t, s.get("bob", "/approvals/a1?review=1"), http.StatusOK, ">Approve (1 of 2; then root)<")
	expect(t, s.get("ann", "/approvals/a1"), http.StatusOK, "bob and root must both approve.")
}

func TestLateDecisionsAreRefused(t *testing.T) {
	s := newSite(t)
	s.desk.open("a1", func(a *core.Approval) { a.Deadline = noon.Add(-time.Second) })
	expect(t, s.post("bob", "/approvals/a1", "choice=approve", "edits=0"), http.StatusConflict,
		"This approval expired at")
}

func TestFormsThatAreNotOurs(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1")
	form := map[string][]string{"choice": {"approve"}, "edits": {"0"}, "as": {"bob"}}
	expect(t, s.do(s.request("bob", http.MethodPost, "/approvals/a1", form)), http.StatusForbidden,
		"Load the page again")
	form["csrf"] = []string{"forged"}
	expect(t, s.do(s.request("bob", http.MethodPost, "/approvals/a1", form)), http.StatusForbidden)
	ann := s.request("ann", http.MethodGet, "/", nil)
	p, err := s.gate.Identify(ann)
	if err != nil {
		t.Fatal(err)
	}
	form["csrf"] = []string{s.gate.FormToken(p, ann)}
	expect(t, s.do(s.request("bob", http.MethodPost, "/approvals/a1", form)), http.StatusForbidden) // another person's
	for _, header := range []string{"Origin: https://evil.example", "Origin: null", "Origin: "} {
		expect(t, s.do(s.request("bob", http.MethodPost, "/approvals/a1", form, header)), http.StatusForbidden)
	}
	for _, fields := range [][]string{
		{"choice=remember", "edits=0"}, {"edits=0"}, {"choice=approve", "edits=x"}, {"choice=approve;deny"},
	} {
		expect(t, s.post("bob", "/approvals/a1", fields...), http.StatusBadRequest)
	}
	if a.State != core.Open || s.decided != 0 {
		t.Errorf("%+v", a)
	}
}

func TestStoreFaultsAreSaidWithoutTheirCause(t *testing.T) {
	s := newSite(t)
	s.desk.open("a1")
	s.desk.fault = core.Wrap(core.StoreBusy, errSecret, "")
	w := s.get("bob", "/approvals")
	expect(t, w, http.StatusServiceUnavailable, "The database is busy.", "!secret")
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.desk.fault = errSecret
	expect(t, s.get("bob", "/approvals/a1"), http.StatusInternalServerError, "!secret")
}

// TestWhatExpiredIsAskedForAgainOnThePage, by who asked for it.
func TestWhatExpiredIsAskedForAgainOnThePage(t *testing.T) {
	s := newSite(t)
	s.desk.open("a1", decidedBy(core.Expired, "bob"))
	expect(t, s.get("bob", "/approvals/a1"), http.StatusOK, "!Ask again")
	expect(t, s.post("bob", "/approvals/a1", "choice=ask_again", "edits=0"), http.StatusForbidden)
	expect(t, s.get("ann", "/approvals/a1"), http.StatusOK, `value="ask_again"`, ">Ask again<")
	expect(t, s.post("ann", "/approvals/a1", "choice=ask_again", "edits=0"), http.StatusSeeOther)
	if len(s.desk.again) != 1 || s.decided != 1 {
		t.Errorf("%q was asked again", s.desk.again)
	}
}
