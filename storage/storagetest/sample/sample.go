// Package sample makes what the store's suites store: claims' replies, approvals, paused runs. For example,
// Asks(claim, "a", core.Rule{}) is the open approval "a" of a claim's turn, which Bob and Cleo may decide.
package sample

import (
	"encoding/json"
	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/core"
)

// The people of the examples.
var (
	Ann  = core.Actor{ID: "plat:ann", Name: "Ann"}
	Bob  = core.Actor{ID: "plat:bob", Name: "Bob"}
	Cleo = core.Actor{ID: "plat:cleo", Name: "Cleo"}
)

// Vote is a decision by a person's vote.
func Vote(id core.ApprovalID, who core.Actor, c core.Choice) core.Decision {
	return core.Decision{Approval: id, Vote: &core.Vote{Actor: who, Choice: c}}
}

// Taken returns the events of claims, in their order.
func Taken(claims []core.Claim) []int64 {
	all := []int64{}
	for _, c := range claims {
		all = append(all, c.Event.Seq)
	}
	return all
}

// Reply is a post that answers the event of a claim.
func Reply(c core.Claim, text string) core.Post {
	return core.Post{
		Key: fmt.Sprintf("reply/%d", c.Event.Seq), To: c.Event.Address, Conversation: c.Event.Conversation,
		Kind: core.PostReply, Text: text, Event: c.Event.Seq,
	}
}

// Card is the post of an approval's card.
func Card(a *core.Approval) core.Post {
	return core.Post{Key: a.CardKey(), To: a.Address, Conversation: a.Conversation, Kind: core.PostCard, Approval: a.ID}
}

// Asks makes the approval of a turn that suspends.
func Asks(c core.Claim, id string, rule core.Rule) *core.Approval {
	if rule.Approvers == nil {
		rule.Approvers = []string{Bob.ID, Cleo.ID}
	}
	return &core.Approval{
		ID: core.ApprovalID(id), Invocation: c.Event.Invocation, Session: c.Session, Conversation: c.Event.Conversation,
		Address: c.Event.Address, Requester: c.Event.Actor,
		Call: core.Call{
			Tool: "note", CallID: "1", Arguments: json.RawMessage(`{"text":"<x>"}`), Digest: "d-" + id,
			Summary: "Write a note",
		},
		Rule: rule, State: core.Open,
	}
}

// Paused makes the record of a turn that suspends on an approval.
func Paused(c core.Claim, signal string, messages int) *core.PausedRecord {
	return &core.PausedRecord{
		Invocation: c.Event.Invocation, Correlation: "corr", Session: c.Session, Type: "suspended", Graph: "g",
		GraphVersion: "1", SchemaVersion: "1",
		Descriptor: core.Descriptor{SignalID: core.SignalID(signal), Metadata: map[string]any{"k": "v", "n": 1.5}},
		Frames: []core.Frame{{
			Node: "act", State: map[string]json.RawMessage{"x": json.RawMessage(`{"y":[1,2]}`)},
			Completed: []string{"a", "b"},
		}},
		Step: 7, Messages: messages,
	}
}

// Said makes a user's messages.
func Said(texts ...string) []core.Message {
	all := []core.Message{}
	for _, t := range texts {
		all = append(all, core.Message{Role: core.User, Content: core.Text(t)})
	}
	return all
}

// Intent is what the executor begins for an approval made by asks.
func Intent(c core.Claim, id core.ApprovalID) core.Intent {
	return core.Intent{Approval: id, Invocation: c.Event.Invocation, Tool: "note", Digest: "d-" + string(id)}
}

// Words returns the texts of messages.
func Words(msgs []core.Message) []string {
	all := []string{}
	for _, m := range msgs {
		all = append(all, m.Content.String())
	}
	return all
}

var Same = cmp.Options{
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b core.Message) bool {
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		return string(x) == string(y)
	}),
	cmp.FilterValues(func(a, b json.RawMessage) bool {
		return len(a)+len(b) > 0
	}, cmp.Comparer(func(a, b json.RawMessage) bool {
		return string(a) == string(b)
	})),
	cmpopts.IgnoreFields(core.SessionRecord{}, "Messages", "Writer"),
}

// DeadAfter is how many beats of the others prove the death of an owner.
const DeadAfter = 5
