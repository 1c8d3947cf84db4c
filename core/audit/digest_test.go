package audit_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/core/question"
)

// TestAnEntryOfABuildWithoutQuestionsHoldsOnlyWhatThatBuildKnew: of its terms and record nothing can be changed, and
// nothing that it did not know can be added.
func TestAnEntryOfABuildWithoutQuestionsHoldsOnlyWhatThatBuildKnew(t *testing.T) {
	_, keys := auditLog(t, 0)
	a := core.Approval{
		ID: "a", Invocation: "i", Session: "s@1", Conversation: "s", Requester: core.Actor{ID: "x:ann"},
		State: core.Open,
		Call:  core.Call{Tool: "note.add"}, CreatedAt: time.Unix(1, 0),
		Votes: []core.Vote{{Actor: core.Actor{ID: "x:bob"}, Choice: core.Approve}},
	}
	detail := ""
	for _, kind := range []string{audit.OfTerms, audit.OfRecord} {
		forms := audit.Forms(kind, a)
		if len(forms) != 2 {
			t.Fatalf("%s has %d forms", kind, len(forms))
		}
		detail += fmt.Sprintf("%s %s, ", kind, keys.Digest("", a.ID, kind, forms[1]))
	}
	entries := []audit.Entry{keys.SealEntry("", audit.Entry{Seq: 1, Approval: a.ID, Action: "opened", Detail: detail})}
	if err := keys.CheckRecord(a, entries); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*core.Approval){
		"a question":         func(a *core.Approval) { a.Question = &question.Question{} },
		"an external":        func(a *core.Approval) { a.External = &core.External{} },
		"an answer":          func(a *core.Approval) { a.Votes[0].Answer = json.RawMessage(`1`) },
		"another vote":       func(a *core.Approval) { a.Votes[0].Choice = core.Deny },
		"another state":      func(a *core.Approval) { a.State = core.Approved },
		"another requester":  func(a *core.Approval) { a.Requester.ID = "x:eve" },
		"another deadline":   func(a *core.Approval) { a.Deadline = time.Unix(9, 0) },
		"another invocation": func(a *core.Approval) { a.Invocation = "j" },
	} {
		changed := a
		changed.Votes = append([]core.Vote{}, a.Votes...)
		change(&changed)
		if err := keys.CheckRecord(changed, entries); core.CategoryOf(err) != core.ApprovalMismatch {
			t.Errorf("%s: %v", name, err)
		}
	}
}
