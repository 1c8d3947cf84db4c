package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/storage"
)

// Turns is gatehouse turns.
type Turns struct {
	List turnsListCmd `cmd:"" help:"List turns, latest first."`
	Show turnsShowCmd `cmd:"" help:"Show a turn: its event, messages, approvals and posts."`
}

type turnsListCmd struct {
	cli.JSONFlag
	Conversation string `help:"Only turns of this conversation."`
	Session      string `help:"Only turns of this session."`
	Waiting      bool   `help:"Only turns that have not ended."`
	Limit        int    `default:"50" help:"The maximum number of turns; 0 for all."`
}

// Run prints the list.
func (c turnsListCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	all, err := store.Events(ctx,
		core.EventFilter{
			Conversation: core.ConversationID(c.Conversation), Session: core.SessionID(c.Session), Waiting: c.Waiting,
			Limit: c.Limit,
		})
	if err != nil {
		return err
	}
	views, rows := []turnView{}, [][]string{}
	for _, e := range all {
		v := viewTurn(e)
		if v.Sequel, err = sequelOf(ctx, store, e); err != nil {
			return err
		}
		views = append(views, v)
		rows = append(rows,
			[]string{
				fmt.Sprint(e.Seq), string(e.Kind()), string(e.Conversation), nameOf(e.Actor), cli.Stamp(e.AcceptedAt),
				v.State + v.Sequel.text(),
			})
	}
	if c.JSON {
		return a.PrintJSON(views)
	}
	return a.Table("No turns found.", []string{"TURN", "KIND", "CONVERSATION", "ACTOR", "ACCEPTED", "STATE"}, rows)
}

type turnsShowCmd struct {
	cli.JSONFlag
	ID       string `arg:"" help:"A turn's number or invocation id."`
	Evidence bool   `help:"Print the turn's evidence as JSON, the input of join-check."`
}

// Run prints one turn.
func (c turnsShowCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	events, err := findTurn(ctx, store, c.ID)
	if err != nil {
		return err
	}
	if c.Evidence {
		return printEvidence(ctx, a, store, events[0], c.ID)
	}
	return showTurns(ctx, a, store, events, c.JSON)
}

// findTurn returns the event with a number and then the other events of its invocation, which are the signals that
// resumed it; or all events of an invocation, in order.
func findTurn(ctx context.Context, store *storage.Store, id string) ([]core.EventRecord, error) {
	if seq, err := strconv.ParseInt(id, 10, 64); err == nil && seq > 0 {
		events, err := store.Events(ctx, core.EventFilter{Seq: seq, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(events) > 0 && events[0].Invocation == "" {
			return events, nil
		}
		if len(events) > 0 {
			all, err := store.Events(ctx, core.EventFilter{Invocation: events[0].Invocation})
			slices.Reverse(all)
			others := slices.DeleteFunc(all, func(e core.EventRecord) bool { return e.Seq == events[0].Seq })
			return append(events, others...), err
		}
	}
	if id != "" {
		events, err := store.Events(ctx, core.EventFilter{Invocation: core.InvocationID(id)})
		if len(events) > 0 || err != nil {
			slices.Reverse(events)
			return events, err
		}
	}
	return nil, core.Errorf(core.NotFound, "There is no turn %q. List turns with gatehouse turns list.", id)
}

// turnDetail is everything that turns show prints.
type turnDetail struct {
	Events    []turnView       `json:"events"`
	Messages  []core.Message   `json:"messages"`
	Approvals []approvalDetail `json:"approvals"`
	Posts     []postView       `json:"posts"`
}

type approvalDetail struct {
	approvalView
	Run     core.CallState `json:"run,omitempty"`      // what became of the call; absent: it has not begun
	RunNote string         `json:"run_note,omitempty"` // why it failed, was not run, or is in doubt; secrets masked
	RunAt   time.Time      `json:"run_at,omitzero"`
	Intent  *intentView    `json:"intent"` // null: the tool was not started
}

func detailOf(v approvalView, card core.Card, intent *intentView) approvalDetail {
	return approvalDetail{v, card.Run, card.RunNote, card.RunAt.UTC(), intent}
}

func showTurns(ctx context.Context, a *cli.App, store *storage.Store, events []core.EventRecord, asJSON bool) error {
	d, err := gather(ctx, a, store, events)
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
func gather(ctx context.Context, a *cli.App, store *storage.Store, events []core.EventRecord) (turnDetail, error) {
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
		d.Messages = cli.List(msgs, masker(found, a.Secret))
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
	a.Fields("turn", fmt.Sprint(e.Seq), "kind", string(e.Kind()),
		"state", turnState(e)+because(string(e.End.Category))+because(mask.Text(e.End.Cause)),
		"conversation", string(e.Conversation), "session", string(e.Session), "invocation", string(e.Invocation),
		"actor", nameOf(e.Actor)+" ("+e.Actor.ID+")",
		"accepted", cli.Stamp(e.AcceptedAt), "ended", cli.Stamp(e.EndedAt), "attempts", fmt.Sprint(e.Attempt),
		"not before", cli.Stamp(e.NotBefore), "repeats", repeats)
}

func because(cause string) string {
	if cause == "" {
		return ""
	}
	return ": " + cause
}

// runOf is what became of an approved call, in the words of its card, and when. The process that ran the call may have
// ended since, so here it is not said to be running.
func runOf(card core.Card) string {
	text := card.RunText()
	switch card.Run {
	case core.CallWaits:
		return ""
	case core.CallRunning:
		text = "Started, no result yet"
	}
	return text + " (" + cli.Stamp(card.RunAt) + ")"
}

// printEvidence prints a turn's join-check input, which was masked when it was stored. It is stored once for an
// invocation, so the message that began a turn and the signals that resumed it have the same. A click has none; the
// error names the turn to look at.
func printEvidence(ctx context.Context, a *cli.App, store *storage.Store, e core.EventRecord, id string) error {
	text, err := store.LoadEvidence(ctx, e.Invocation)
	if err != nil {
		return err
	}
	if text != nil {
		return a.PrintJSON(text)
	}
	about, err := turnOf(ctx, store, e)
	if err != nil {
		return err
	}
	if about != 0 {
		return core.Errorf(core.NotFound,
			"Turn %q has no evidence of its own: it is a click on approval %s. See the turn that requested the "+
				"approval: gatehouse turns show %d --evidence.",
			id, e.Subject(), about)
	}
	return core.Errorf(core.NotFound,
		"Turn %q has no evidence: it is still running, it failed, or its agent records none.", id)
}

// turnOf returns the turn that requested the approval whose card's button was pressed; 0 for another event, or if the
// turn was pruned.
func turnOf(ctx context.Context, store *storage.Store, e core.EventRecord) (int64, error) {
	if e.Kind() != core.KindClick && e.Kind() != core.KindAgain {
		return 0, nil
	}
	a, err := store.LoadApproval(ctx, core.ApprovalID(e.Subject()))
	if core.CategoryOf(err) == core.NotFound {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	events, err := store.Events(ctx, core.EventFilter{Invocation: a.Invocation}) // latest first
	if len(events) == 0 || err != nil {
		return 0, err
	}
	return events[len(events)-1].Seq, nil
}
