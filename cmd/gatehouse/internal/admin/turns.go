package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

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

// turnView is the JSON output of a turn.
type turnView struct {
	Seq          int64               `json:"seq"`
	State        string              `json:"state"`
	Platform     string              `json:"platform"`
	ID           string              `json:"id"`
	Kind         core.Kind           `json:"kind"`
	Subject      string              `json:"subject,omitempty"`
	Conversation core.ConversationID `json:"conversation"`
	Session      core.SessionID      `json:"session,omitempty"`
	Invocation   core.InvocationID   `json:"invocation,omitempty"`
	Actor        core.Actor          `json:"actor"`
	AcceptedAt   time.Time           `json:"accepted_at"`
	EndedAt      time.Time           `json:"ended_at,omitzero"`
	NotBefore    time.Time           `json:"not_before,omitzero"`
	Attempt      int                 `json:"attempt"`
	Retries      int                 `json:"retries"`
	RetryOf      int64               `json:"retry_of,omitempty"`
	Category     core.Category       `json:"category,omitempty"`
	Cause        string              `json:"cause,omitempty"`
	Sequel       *resumption         `json:"sequel,omitempty"` // in turns list, of a suspended turn
}

var turnTable = table[turnView]{
	none:   "No turns found.",
	header: []string{"TURN", "KIND", "CONVERSATION", "ACTOR", "ACCEPTED", "STATE"},
	row: func(t turnView) []string {
		return []string{
			fmt.Sprint(t.Seq), string(t.Kind), string(t.Conversation), nameOf(t.Actor), cli.Stamp(t.AcceptedAt),
			t.State + t.Sequel.text(),
		}
	},
}

func viewTurn(e core.EventRecord) turnView {
	return turnView{
		Seq: e.Seq, State: turnState(e), Platform: e.Platform, ID: e.ID, Kind: e.Kind(), Subject: e.Subject(),
		Conversation: e.Conversation, Session: e.Session,
		Invocation: e.Invocation, Actor: e.Actor, AcceptedAt: e.AcceptedAt.UTC(), EndedAt: e.EndedAt.UTC(),
		NotBefore: e.NotBefore.UTC(),
		Attempt:   e.Attempt, Retries: e.Retries, RetryOf: e.RetryOf, Category: e.End.Category,
		Cause: mask.Text(e.End.Cause),
	}
}

// turnState is how an event ended, or why it has not ended yet.
func turnState(e core.EventRecord) string {
	switch {
	case !e.EndedAt.IsZero() || e.End.Kind != "":
		return string(e.End.Kind)
	case e.NotBefore.After(time.Now()):
		return "backing off"
	}
	return "waiting"
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
	views := cli.List(all, viewTurn)
	for i, e := range all {
		if views[i].Sequel, err = resumptionOf(ctx, store, e); err != nil {
			return err
		}
	}
	return turnTable.print(a, c.JSONFlag, views)
}

type turnsShowCmd struct {
	cli.JSONFlag
	ID       string `arg:"" help:"${turns_id}"`
	Evidence bool   `help:"Print the turn's evidence as JSON, the input of join-check."`
}

// Run prints one turn.
func (c turnsShowCmd) Run(ctx context.Context, a *cli.App, agent Agent, store *storage.Store) error {
	events, err := findTurn(ctx, store, c.ID)
	if err != nil {
		return err
	}
	if c.Evidence {
		return printEvidence(ctx, a, store, events[0], c.ID)
	}
	return showTurns(ctx, a, agent, store, events, c.JSON)
}

// findTurn returns the event with a number and then the other events of its invocation, which are the signals that
// resumed it; or all events of an invocation, in order, of whose id the beginning or end of one alone will do.
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
	events, err := eventsOf(ctx, store, id)
	if len(events) > 0 || err != nil {
		return events, err
	}
	whole, err := partOfInvocation(ctx, store, id)
	if err != nil {
		return nil, err
	}
	if events, err = eventsOf(ctx, store, whole); len(events) > 0 || err != nil {
		return events, err
	}
	return nil, core.Errorf(core.NotFound, "There is no turn %q. List turns with gatehouse turns list.", id)
}

// eventsOf are the events of an invocation, in order.
func eventsOf(ctx context.Context, store *storage.Store, invocation string) ([]core.EventRecord, error) {
	if invocation == "" {
		return nil, nil
	}
	events, err := store.Events(ctx, core.EventFilter{Invocation: core.InvocationID(invocation)})
	slices.Reverse(events)
	return events, err
}

// partOfInvocation returns the invocation whose id begins or ends with a part; "" if there is none.
func partOfInvocation(ctx context.Context, store *storage.Store, part string) (string, error) {
	if part == "" {
		return "", nil
	}
	events, err := store.Events(ctx, core.EventFilter{Bare: true})
	if err != nil {
		return "", err
	}
	var all []named
	known := map[core.InvocationID]bool{"": true}
	for _, e := range slices.Backward(events) { // the event that began it first
		if !known[e.Invocation] {
			known[e.Invocation] = true
			all = append(all, named{string(e.Invocation), fmt.Sprintf("turn %d  %s", e.Seq, e.Conversation)})
		}
	}
	return theOne("turn", part, all)
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

// resumption is how a suspended turn went on: its approval, and the turn that resumed it.
type resumption struct {
	Approval  core.ApprovalID    `json:"approval"`
	Decision  core.ApprovalState `json:"approval_state"`
	ResumedBy int64              `json:"resumed_by,omitempty"` // 0: not resumed, or not any more in the database
	State     string             `json:"resumed_state,omitempty"`
}

// text is the resumption in a few words.
func (s *resumption) text() string {
	switch {
	case s == nil:
		return ""
	case s.ResumedBy != 0:
		return fmt.Sprintf(", then %s and resumed by turn %d (%s)", s.Decision, s.ResumedBy, s.State)
	case s.Decision == core.Open:
		return fmt.Sprintf(", waits for approval %s", s.Approval)
	}
	return ", then " + string(s.Decision)
}

// resumptionOf reads how a turn went on; nil if it is not suspended or its approval was pruned. A turn may be suspended
// several times: each time the next event of its invocation, a signal, names the approval.
func resumptionOf(ctx context.Context, store *storage.Store, e core.EventRecord) (*resumption, error) {
	if e.End.Kind != core.EndSuspended {
		return nil, nil
	}
	events, err := store.Events(ctx, core.EventFilter{Invocation: e.Invocation}) // latest first
	if err != nil {
		return nil, err
	}
	all, err := store.ListApprovals(ctx, core.ApprovalFilter{Invocation: e.Invocation}) // latest first
	if err != nil || len(all) == 0 {
		return nil, err
	}
	s := &resumption{Approval: all[0].ID}
	for _, other := range events {
		if other.Seq <= e.Seq {
			break
		}
		s.ResumedBy, s.State = other.Seq, turnState(other)
		s.Approval = core.ApprovalID(other.Subject())
	}
	a, _, err := recorded(ctx, store, s.Approval)
	if core.CategoryOf(err) == core.NotFound { // it was pruned
		return s, nil
	}
	s.Decision = a.State
	return s, err
}
