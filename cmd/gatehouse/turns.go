package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"gatehouse/core"
)

type turnsCmd struct {
	List turnsListCmd `cmd:"" help:"List what came in, latest first."`
	Show turnsShowCmd `cmd:"" help:"Show a turn: its event, messages, approvals and posts."`
}

type turnsListCmd struct {
	asJSON
	Conversation string `help:"Of this conversation alone."`
	Session      string `help:"Of this session alone."`
	Waiting      bool   `help:"Those alone that have not ended."`
	Limit        int    `default:"50" help:"How many; 0 for all."`
}

// Run lists.
func (c turnsListCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		all, err := store.Events(ctx, core.EventFilter{Conversation: core.ConversationID(c.Conversation), Session: core.SessionID(c.Session), Waiting: c.Waiting, Limit: c.Limit})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.json(list(all, viewTurn))
		}
		return a.table("There are no turns.", []string{"TURN", "KIND", "CONVERSATION", "WHO", "ACCEPTED", "STATE"}, list(all, func(e core.EventRecord) []string {
			return []string{fmt.Sprint(e.Seq), string(e.Kind()), string(e.Conversation), nameOf(e.Actor), stamp(e.AcceptedAt), turnState(e)}
		}))
	})
}

type turnsShowCmd struct {
	asJSON
	ID       string `arg:"" help:"The number of a turn, or the id of its invocation."`
	Evidence bool   `help:"Print what join-check reads of the turn instead, as JSON."`
}

// Run shows.
func (c turnsShowCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		events, err := findTurn(ctx, store, c.ID)
		if err != nil {
			return err
		}
		if c.Evidence {
			return a.evidence(ctx, store, events[0], c.ID)
		}
		return a.showTurns(ctx, store, events, c.JSON)
	})
}

// findTurn gives the event of a number, and after it the others of its invocation; or all events of an invocation in their order.
func findTurn(ctx context.Context, store core.Store, id string) ([]core.EventRecord, error) {
	if seq, err := strconv.ParseInt(id, 10, 64); err == nil && seq > 0 {
		events, err := store.Events(ctx, core.EventFilter{Seq: seq, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(events) > 0 {
			return withOthers(ctx, store, events[0])
		}
	}
	if id != "" {
		events, err := store.Events(ctx, core.EventFilter{Invocation: core.InvocationID(id)})
		if len(events) > 0 || err != nil {
			slices.Reverse(events)
			return events, err
		}
	}
	return nil, core.Errorf(core.NotFound, "There is no turn %q; gatehouse turns list shows those there are.", id)
}

// withOthers adds the rest of the event's invocation: the decisions that woke it.
func withOthers(ctx context.Context, store core.Store, e core.EventRecord) ([]core.EventRecord, error) {
	events := []core.EventRecord{e}
	if e.Invocation == "" {
		return events, nil
	}
	all, err := store.Events(ctx, core.EventFilter{Invocation: e.Invocation})
	slices.Reverse(all)
	for _, other := range all {
		if other.Seq != e.Seq {
			events = append(events, other)
		}
	}
	return events, err
}

// turnDetail is everything that is known of a turn.
type turnDetail struct {
	Events    []turnView       `json:"events"`
	Messages  []core.Message   `json:"messages"`
	Approvals []approvalDetail `json:"approvals"`
	Posts     []postView       `json:"posts"`
}

type approvalDetail struct {
	approvalView
	Intent *intentView `json:"intent"` // null: the tool was not begun
}

func (a *app) showTurns(ctx context.Context, store core.Store, events []core.EventRecord, asJSON bool) error {
	d, err := gather(ctx, store, events)
	if err != nil {
		return err
	}
	if asJSON {
		return a.json(d)
	}
	a.showEvent(events[0])
	about, err := turnOf(ctx, store, events[0])
	if err != nil {
		return err
	}
	if about != 0 {
		a.say("decides on approval %s, which turn %d asked for", events[0].Subject(), about)
	}
	for _, e := range events[1:] {
		a.say("with turn %d: %s, %s%s", e.Seq, e.Kind(), turnState(e), because(string(e.End.Category)))
	}
	a.messages(d.Messages)
	for _, p := range d.Approvals {
		a.say("approval %s: %s: %s", p.ID, p.State, p.Summary)
		a.fields("arguments", string(p.Arguments), "tool", toolEnd(p.Intent))
	}
	for _, p := range d.Posts {
		a.say("post %d: %s, %s%s", p.Seq, p.Kind, p.State, because(p.Cause))
	}
	return nil
}

// gather reads what belongs to the events of one turn.
func gather(ctx context.Context, store core.Store, events []core.EventRecord) (turnDetail, error) {
	d := turnDetail{Events: list(events, viewTurn), Messages: []core.Message{}, Approvals: []approvalDetail{}, Posts: []postView{}}
	first := events[0]
	seqs, ids := map[int64]bool{}, map[core.ApprovalID]bool{}
	for _, e := range events {
		seqs[e.Seq] = true
		if e.Session != "" {
			first.Session = e.Session
		}
	}
	if first.Invocation != "" {
		msgs, err := store.InvocationMessages(ctx, first.Session, first.Invocation)
		if err != nil {
			return d, err
		}
		d.Messages = list(msgs, masked)
		found, err := store.ListApprovals(ctx, core.ApprovalFilter{Invocation: first.Invocation})
		if err != nil {
			return d, err
		}
		slices.Reverse(found)
		for _, p := range found {
			intent, err := store.LoadIntent(ctx, p.ID)
			if err != nil {
				return d, err
			}
			ids[p.ID] = true
			d.Approvals = append(d.Approvals, approvalDetail{viewApproval(p), viewIntent(intent)})
		}
	}
	posts, err := store.ListPosts(ctx, nil, first.Conversation, 0)
	if err != nil {
		return d, err
	}
	slices.Reverse(posts)
	for _, p := range posts {
		if seqs[p.Event] || p.Approval != "" && ids[p.Approval] {
			d.Posts = append(d.Posts, viewPost(p))
		}
	}
	return d, nil
}

func (a *app) showEvent(e core.EventRecord) {
	retryOf := ""
	if e.RetryOf != 0 {
		retryOf = fmt.Sprintf("turn %d", e.RetryOf)
	}
	a.fields("turn", fmt.Sprint(e.Seq), "kind", string(e.Kind()), "state", turnState(e)+because(string(e.End.Category))+because(core.MaskText(e.End.Cause)),
		"conversation", string(e.Conversation), "session", string(e.Session), "invocation", string(e.Invocation), "who", nameOf(e.Actor)+" ("+e.Actor.ID+")",
		"accepted", stamp(e.AcceptedAt), "ended", stamp(e.EndedAt), "attempts", fmt.Sprint(e.Attempt), "not before", stamp(e.NotBefore), "again for", retryOf)
}

func because(cause string) string {
	if cause == "" {
		return ""
	}
	return ": " + cause
}

// toolEnd says how far the tool of an approval got.
func toolEnd(i *intentView) string {
	switch {
	case i == nil:
		return ""
	case i.Result == nil:
		return "begun " + stamp(i.BegunAt) + "; its outcome is not known"
	case i.Category != "":
		return "failed (" + string(i.Category) + "): " + *i.Result
	}
	return "done " + stamp(i.EndedAt) + ": " + *i.Result
}
