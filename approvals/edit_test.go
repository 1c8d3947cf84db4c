package approvals_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// TestArgumentsAreChangedOnlyForValidOnes: within the rule, for the tool, and where all of them are seen.
func TestArgumentsAreChangedOnlyForValidOnes(t *testing.T) {
	store, err := storage.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "g.db"),
		storage.Options{NewID: uuid.NewString})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	tools := tool.NewRegistry(tool.NoteAdd(nil))
	rule := func(_ core.Turn, c core.Call) core.Rule {
		name := "notes"
		if strings.Contains(string(c.Arguments), "wine") {
			name = "wine"
		}
		return core.Rule{Name: name, Verdict: core.VerdictAsk, Approvers: []string{"x:bob"}, Edit: true}
	}
	open := func(id, text string) {
		t.Helper()
		args, _ := json.Marshal(map[string]string{"text": text})
		call, err := tools.Bind(core.ToolCall{ID: "1", Name: "note.add", Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Accept(t.Context(),
			core.Event{
				Platform: "x", ID: id, Conversation: core.ConversationID("x:" + id), Body: core.MessageEvent{},
			}); err != nil {
			t.Fatal(err)
		}
		claims, err := store.Claim(t.Context(),
			core.ClaimRequest{Owner: "test", Limit: 1, Scopes: []core.Scope{{Platform: "x"}}})
		if err != nil || len(claims) != 1 {
			t.Fatalf("%v, %v", claims, err)
		}
		c := claims[0]
		a := core.Approval{
			ID: core.ApprovalID(id), Invocation: c.Event.Invocation, Session: c.Session,
			Conversation: c.Event.Conversation, State: core.Open, Call: call, Rule: rule(core.Turn{}, call),
		}
		if err := store.Finish(t.Context(),
			core.Finish{
				Claim:   c,
				End:     core.End{Kind: core.EndSuspended},
				Changes: core.Changes{Approval: &a},
			}); err != nil {
			t.Fatal(err)
		}
	}
	open("a1", "milk")
	open("a2", "ghp_0123456789abcdefghij0123456789ABCDEF")
	service := approvals.NewService(store, store).LetEdit(approvals.Editing{Tools: tools, Policy: ruleFor(rule)})
	for _, c := range []struct {
		service   *approvals.Service
		id        core.ApprovalID
		who, args string
		want      string // "" = changed
	}{
		{approvals.NewService(store, store), "a1", "x:bob", `{"text":"bread"}`, "Arguments can't be changed here."},
		{service, "a1", "x:bob", `["bread"]`, "must be a JSON object"},
		{service, "a1", "x:bob", `{"text":`, "must be a JSON object"},
		{service, "a1", "x:bob", `{"text":"` + strings.Repeat("x", 70_000) + `"}`, "at most 65536 bytes"},
		{service, "a1", "x:bob", `{"text":"milk"}`, "These are the present arguments"},
		{service, "a1", "x:bob", `{"text":"wine"}`, "another rule of the policy applies (wine)"},
		{service, "a1", "x:bob", `{"text":5}`, "Nothing was changed."},
		{service, "a1", "x:eve", `{"text":"bread"}`, "You are not an approver"},
		{service, "a2", "x:bob", `{"text":"bread"}`, "partly masked"},
		{service, "a1", "x:bob", ` {"text":"bread"} `, ""},
		{service, "a1", "x:bob", `{"text":"butter"}`, "The arguments were changed after this card was drawn"},
	} {
		got, err := c.service.Vote(t.Context(), core.Click{Approval: c.id, Choice: core.Edit, Changed: c.args},
			core.Actor{ID: c.who}, 0)
		if c.want != "" && !strings.Contains(core.MessageOf(err), c.want) {
			t.Errorf("%.40s by %s: %v, want %s", c.args, c.who, err, c.want)
		}
		if c.want == "" && !strings.Contains(approvals.CardOf(got.Approval, nil).Before, `"milk"`) {
			t.Errorf("%s: the card does not know what was asked for", c.args)
		}
		if c.want == "" &&
			(err != nil || got.Approval.Call.Summary != "Add “bread” to the note book." ||
				got.Approval.State != core.Open) {
			t.Errorf("%s: %+v, %v", c.args, got.Approval, err)
		}
	}
	// What another agent requested has no tool here.
	requested := core.Call{
		Tool: "external.ci.deploy", Arguments: json.RawMessage(`{"version":7}`), Summary: "Deploy version 7.",
	}
	if requested.Digest, err = tool.Digest(requested.Tool, requested.Arguments); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.OpenExternal(t.Context(),
		core.Approval{
			ID: "a3", Conversation: "external:ci", State: core.Open, Call: requested, External: &core.External{},
			Rule: rule(core.Turn{}, requested),
		}, nil, 1); err != nil {
		t.Fatal(err)
	}
	got, err := service.Vote(t.Context(), core.Click{Approval: "a3", Choice: core.Edit, Changed: `{"version":8}`},
		core.Actor{ID: "x:bob"}, 0)
	if a := got.Approval; err != nil || string(a.Call.Arguments) != `{"version":8}` ||
		a.Requested != requested.Digest || a.Call.Summary != requested.Summary {
		t.Errorf("a request of another agent: %+v, %v", a, err)
	}
	if got, err := service.Vote(t.Context(), core.Click{Approval: "a3", Choice: core.Approve, Edits: 1},
		core.Actor{ID: "x:bob"}, 0); err != nil || got.Approval.State != core.Approved {
		t.Errorf("the changed request of another agent: %+v, %v", got.Approval, err)
	}
	// The admin too approves only the arguments that they have seen.
	if _, err := service.AdminVote(t.Context(), core.Click{Approval: "a1", Choice: core.Approve}, "",
		""); !strings.Contains(core.MessageOf(err), "The arguments were changed") {
		t.Errorf("the admin, who has seen others: %v", err)
	}
	if got, err := service.AdminVote(t.Context(), core.Click{Approval: "a1", Choice: core.Approve, Edits: 1}, "",
		""); err != nil || got.Approval.State != core.Approved {
		t.Errorf("the admin: %+v, %v", got.Approval, err)
	}
}

// ruleFor is a policy as a function.
type ruleFor func(turn core.Turn, call core.Call) core.Rule

func (f ruleFor) Rule(turn core.Turn, call core.Call) core.Rule { return f(turn, call) }
