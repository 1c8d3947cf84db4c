package approvals_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/tool"
)

func TestLaw8_CardShowsAllArgumentsAndNoSecrets(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	args, _ := json.Marshal(map[string]string{"text": long, "token": "t0ps3cret", "hidden": "a\u200bb"})
	card := approvals.CardOf(core.Approval{
		ID: "a1", State: core.Denied, Reason: "no", Requester: core.Actor{ID: "x:ann"},
		DecidedBy: core.Actor{ID: "x:bob", Name: "Bob"},
		Call: core.Call{
			Tool: "post", Summary: "Post\nwith ghp_0123456789abcdefghij0123456789ABCDEF.", Arguments: args,
		},
		Votes: []core.Vote{{Choice: core.Approve}, {Choice: core.Deny, Actor: core.Actor{ID: "x:bob"}}},
	}, nil)
	if !strings.Contains(card.Arguments, long) || strings.Contains(card.Arguments, "t0ps3cret") ||
		card.Summary != `Post\nwith •••••• (40 characters hidden).` || !strings.Contains(card.Arguments, `a\u200bb`) {
		t.Errorf("arguments %.80s…, summary %s", card.Arguments, card.Summary)
	}
	if card.Hidden != len("t0ps3cret") || !card.Altered {
		t.Errorf("%d characters hidden, altered %v", card.Hidden, card.Altered)
	}
	if card.Requester != "x:ann" || card.DecidedBy != "Bob" || len(card.Voters) != 1 || card.Quorum != 1 {
		t.Errorf("%+v", card)
	}
}

func TestOpen(t *testing.T) {
	service := approvals.NewService(nil, nil)
	turn := core.Turn{
		Event: 5, Conversation: "x:room", Address: core.Address{Platform: "x"}, Actor: core.Actor{ID: "x:ann"},
	}
	pause := func(v core.Verdict) core.Suspended {
		return core.Suspended{
			Invocation: "i1", Descriptor: core.Descriptor{SignalID: "a1", Approval: &core.ApprovalRequest{
				Call: core.Call{Tool: "pay", Digest: "d"},
				Rule: core.Rule{Name: "r", Verdict: v, Approvers: []string{"x:bob"}},
			}},
		}
	}
	a, posts, ok := service.Open(turn, "x:room@1", pause(core.VerdictAsk))
	if !ok || a.State != core.Open || a.ID != "a1" || a.Requester.ID != "x:ann" || a.Call.Digest != "d" {
		t.Errorf("ask: %+v", a)
	}
	if len(posts) != 1 || posts[0].Kind != core.PostCard || posts[0].Approval != "a1" || posts[0].Key != a.CardKey() {
		t.Errorf("its card: %+v", posts)
	}
	a, posts, ok = service.Open(turn, "x:room@1", pause(core.VerdictAllow))
	if !ok || a.State != core.Approved || len(posts) != 0 || a.DecidedBy.ID != "policy" {
		t.Errorf("allow: %+v, %+v", a, posts)
	}
	if _, _, ok := service.Open(turn, "x:room@1", core.Suspended{}); ok {
		t.Error("a pause that asks for nothing opens an approval")
	}
}

func TestCardTellsWhatBecameOfTheCall(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	begun := func(r *core.ToolResult) *core.IntentRecord {
		i := &core.IntentRecord{BegunAt: noon, Result: r}
		if r != nil {
			i.EndedAt = noon.Add(time.Minute)
		}
		return i
	}
	failed := func(c core.Category, text string) *core.ToolResult {
		r := tool.Failed(core.Errorf(c, "%s", text))
		return &r
	}
	never := begun(failed(core.ApprovalStale, "The rules changed."))
	never.BegunAt = time.Time{}
	long := strings.Repeat("word ", 100)
	for name, c := range map[string]struct {
		intent *core.IntentRecord
		run    core.CallState
		note   string
		text   string
	}{
		"it has not begun": {nil, core.CallWaits, "", ""},
		"it runs":          {begun(nil), core.CallRunning, "", "Running"},
		"it is done":       {begun(&core.ToolResult{Content: "secret"}), core.CallDone, "", "Done"},
		"it failed": {
			begun(failed(core.ToolFailed, "No space left.")), core.CallFailed, "No space left.",
			"Failed: No space left.",
		},
		"it was not run": {never, core.CallNotRun, "The rules changed.", "Not run: The rules changed."},
		"nobody knows": {
			begun(failed(core.OutcomeUnknown, "It was started.")), core.CallUnknown, "It was started.",
			"Outcome unknown",
		},
		"a plain text": {
			begun(&core.ToolResult{Content: "It was started.", Category: core.OutcomeUnknown}), core.CallUnknown,
			"It was started.", "Outcome unknown",
		},
		"several lines": {
			begun(failed(core.ToolFailed, "No\n  space\u202e left.")), core.CallFailed, `No space\u202e left.`,
			`Failed: No space\u202e left.`,
		},
		"a secret": {
			begun(failed(core.ToolFailed, "No ghp_0123456789abcdefghij0123456789ABCDEF.")), core.CallFailed,
			"No •••••• (40 characters hidden).", "Failed: No •••••• (40 characters hidden).",
		},
		"a long one": {
			begun(failed(core.ToolFailed, long)), core.CallFailed, long[:199] + "…", "Failed: " + long[:199] + "…",
		},
		"its text is erased": {begun(&core.ToolResult{Category: core.ToolFailed}), core.CallFailed, "", "Failed"},
	} {
		card := approvals.CardOf(core.Approval{ID: "a1", State: core.Approved}, c.intent)
		if card.Run != c.run || card.RunNote != c.note || card.RunText() != c.text {
			t.Errorf("%s: %q, note %q, text %q", name, card.Run, card.RunNote, card.RunText())
		}
		at := noon
		switch {
		case c.intent == nil:
			at = time.Time{}
		case c.intent.Result != nil:
			at = noon.Add(time.Minute)
		}
		if !card.RunAt.Equal(at) {
			t.Errorf("%s: at %s, want %s", name, card.RunAt, at)
		}
	}
	if card := approvals.CardOf(core.Approval{ID: "a1", State: core.Cancelled}, never); card.Run != core.CallWaits ||
		card.RunNote != "" {
		t.Errorf("a call that is not approved: %+v", card)
	}
}
