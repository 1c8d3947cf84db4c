package admin

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/storage"
)

// turnDetail is everything that turns show prints.
type turnDetail struct {
	Events    []turnView       `json:"events"`
	Messages  []core.Message   `json:"messages"`
	Approvals []approvalDetail `json:"approvals"`
	Posts     []postView       `json:"posts"`
}

func showTurns(
	ctx context.Context, a *cli.App, agent Agent, store *storage.Store, events []core.EventRecord, asJSON bool,
) error {
	d, err := gather(ctx, agent, store, events)
	if err != nil {
		return err
	}
	if asJSON {
		return a.PrintJSON(d)
	}
	showEvent(a, events[0])
	about, err := turnOf(ctx, store, events[0])
	if err != nil {
		return err
	}
	if about != 0 {
		a.PrintLine("click on approval %s, which turn %d requested", events[0].Subject(), about)
	}
	for _, e := range events[1:] {
		a.PrintLine("resumed by turn %d: %s, %s%s", e.Seq, e.Kind(), turnState(e), because(string(e.End.Category)))
	}
	printMessages(a, d.Messages)
	for _, p := range d.Approvals {
		a.PrintLine("approval %s: %s: %s", p.ID, p.State, p.Summary)
		a.Fields("arguments", string(p.Arguments),
			"call", runOf(core.Card{Run: p.Run, RunNote: p.RunNote, RunAt: p.RunAt}), "result", p.Intent.result())
	}
	for _, p := range d.Posts {
		a.PrintLine("post %d: %s, %s%s", p.Seq, p.Kind, p.State, because(mask.Text(p.Cause)))
	}
	return nil
}

// gather reads what belongs to the events of one turn.
func gather(ctx context.Context, agent Agent, store *storage.Store, events []core.EventRecord) (turnDetail, error) {
	d := turnDetail{
		Events: cli.List(events, viewTurn), Messages: []core.Message{}, Approvals: []approvalDetail{},
		Posts: []postView{},
	}
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
		found, err := store.ListApprovals(ctx, core.ApprovalFilter{Invocation: first.Invocation})
		if err != nil {
			return d, err
		}
		d.Messages = cli.List(msgs, masker(found, agent.Tools()))
		slices.Reverse(found)
		for _, p := range found {
			p, intent, err := recorded(ctx, store, p.ID)
			if err != nil {
				return d, err
			}
			ids[p.ID] = true
			d.Approvals = append(d.Approvals,
				detailOf(viewApproval(p), approvals.CardOf(p, intent), viewIntent(p.Call, intent)))
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

func showEvent(a *cli.App, e core.EventRecord) {
	repeats := ""
	if e.RetryOf != 0 {
		repeats = fmt.Sprintf("turn %d", e.RetryOf)
	}
	a.Fields(
		"turn", fmt.Sprint(e.Seq),
		"kind", string(e.Kind()),
		"state", turnState(e)+because(string(e.End.Category))+because(mask.Text(e.End.Cause)),
		"conversation", string(e.Conversation),
		"session", string(e.Session),
		"invocation", string(e.Invocation),
		"actor", nameAndID(e.Actor),
		"accepted", cli.Stamp(e.AcceptedAt),
		"ended", cli.Stamp(e.EndedAt),
		"attempts", fmt.Sprint(e.Attempt),
		"not before", cli.Stamp(e.NotBefore),
		"repeats", repeats,
	)
}
