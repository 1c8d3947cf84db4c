package dispatch_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
)

// withDirectory is the room with a directory: groups are the members of each group; down is the error of a look-up.
type withDirectory struct {
	*room
	groups map[string][]string
	down   error
}

func (w withDirectory) NameOf(context.Context, core.Actor) string { return "" }

func (w withDirectory) Groups(_ context.Context, who core.Actor, wanted []string) (in []string, err error) {
	for _, group := range wanted {
		if slices.Contains(w.groups[group], who.ID) {
			in = append(in, group)
		}
	}
	return in, w.down
}

func (w withDirectory) CardCopies(context.Context, core.Delivery, bool) (core.Copies, error) {
	return core.Copies{}, nil
}

// anew begins a new conversation as a person.
func (b *bench) anew(conversation core.ConversationID, who string) core.Receipt {
	b.t.Helper()
	return b.accept(core.Event{Conversation: conversation, Body: core.ResetEvent{}, Actor: core.Actor{ID: who}})
}

func TestNewConversationOfAnotherPersonWithdrawsNothing(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.anew("room:1", "room:eve")
	d := b.expect("This is a new conversation.")
	if !strings.Contains(d.Text, "that still wait: 1.") {
		t.Errorf("eve reads %q", d.Text)
	}
	r := b.say("room:1", "note list")
	b.expect("The note book is empty.")
	if e := b.ended(r.Seq); e.Session != "room:1@2" {
		t.Errorf("what follows is said in %s, want a new session", e.Session)
	}
	a, err := b.store.LoadApproval(t.Context(), card.Approval)
	if err != nil || a.State != core.Open {
		t.Fatalf("the approval is %s, %v, want open", a.State, err)
	}
	b.click("room:1", card.Approval, "room:bob", core.Approve, "") // the old turn goes on where it was
	b.expect("Done: “milk” is in the note book.")
	if got := b.notes("room:1"); len(got) != 1 {
		t.Errorf("notes %q", got)
	}
	old := b.history("room:1@1")
	if open := core.OpenCalls(old); len(open) != 0 || !strings.Contains(old[len(old)-1].Content.String(), "Done") {
		t.Errorf("its end is not in its own history: %+v", old)
	}

	// An approval that outlived a new conversation is still its requester's to withdraw by one.
	b.say("room:1", "note add eggs")
	second := b.asked()
	b.anew("room:1", "room:eve")
	b.expect("that still wait: 1.")
	b.anew("room:1", "room:ann")
	if d := b.expect("This is a new conversation."); strings.Contains(d.Text, "still wait") {
		t.Errorf("ann reads %q", d.Text)
	}
	if a, err := b.store.LoadApproval(t.Context(), second.Approval); err != nil || a.State != core.Cancelled {
		t.Errorf("the approval is %s, %v, want cancelled", a.State, err)
	}
}

// A decided turn that waits for a retry is withdrawn by nobody else either.
func TestNewConversationOfAnotherPersonLeavesADecidedTurn(t *testing.T) {
	failed := make(chan struct{})
	var once sync.Once
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		if tail, err := h.Tail(ctx, 1); err == nil && tail[0].Role == core.ToolRole {
			fails := false
			once.Do(func() { fails = true; close(failed) })
			if fails {
				return agent.Answer{}, core.Errorf(core.StoreBusy, "down")
			}
		}
		return agent.Demo{}.Next(ctx, h, nil)
	})
	b := newBench(t, setup{model: model, options: func(o *dispatch.Options) { o.Jitter = func() float64 { return 1 } }})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	<-failed
	r := b.anew("room:1", "room:eve")
	b.expect("that still wait: 1.")
	if e := b.ended(r.Seq); e.End.Kind != core.EndReplied {
		t.Errorf("%+v", e.End)
	}
	b.expect("Done: “milk” is in the note book.")
}

// Whoever may approve, by name or by group, may withdraw by a new conversation; so may the command line.
func TestNewConversationOfAnApproverWithdraws(t *testing.T) {
	busy := core.Errorf(core.ProviderUnavailable, "busy")
	for who, c := range map[string]struct {
		down error
		want core.ApprovalState
	}{
		"room:bob": {nil, core.Cancelled}, "room:gil": {nil, core.Cancelled}, "local-admin": {busy, core.Cancelled},
		"room:eve": {nil, core.Open}, "room:git": {busy, core.Open},
	} {
		b := newBench(t, setup{
			policy: policy.Defaults{Approvers: []string{"room:bob", "room:group:ops"}}.Rule,
			options: func(o *dispatch.Options) {
				o.Platforms = []core.Platform{withDirectory{
					o.Platforms[0].(*room), map[string][]string{"room:group:ops": {"room:gil"}}, c.down,
				}}
			},
		})
		b.say("room:1", "note add milk")
		card := b.asked()
		b.anew("room:1", who)
		b.expect("This is a new conversation.")
		if a, err := b.store.LoadApproval(t.Context(), card.Approval); err != nil || a.State != c.want {
			t.Errorf("after a new conversation of %s the approval is %s, %v, want %s", who, a.State, err, c.want)
		}
	}
}

func TestCancelOfAGroupsMember(t *testing.T) {
	b := newBench(t, setup{
		policy: policy.Defaults{Approvers: []string{"room:group:ops"}}.Rule,
		options: func(o *dispatch.Options) {
			o.Platforms = []core.Platform{withDirectory{
				o.Platforms[0].(*room), map[string][]string{"room:group:ops": {"room:gil"}}, nil,
			}}
		},
	})
	b.say("room:1", "note add milk")
	b.asked()
	cancel := func(who string) {
		b.accept(
			core.Event{Conversation: "room:1", Body: core.ControlEvent{Word: "cancel"}, Actor: core.Actor{ID: who}})
	}
	cancel("room:eve")
	b.expect("There is no open approval that you can cancel.")
	cancel("room:gil")
	got := b.heard().Text + "|" + b.heard().Text
	if !strings.Contains(got, "Approvals cancelled: 1.") {
		t.Errorf("heard %q", got)
	}
}
