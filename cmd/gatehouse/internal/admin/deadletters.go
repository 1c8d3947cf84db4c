package admin

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/storage"
)

// DeadLetters is gatehouse deadletters: turns that failed for good, and posts that were refused or may not have
// arrived.
type DeadLetters struct {
	List  deadlettersListCmd  `cmd:"" help:"${dead_letters_list}"`
	Show  deadlettersShowCmd  `cmd:"" help:"Show a dead letter."`
	Retry deadlettersRetryCmd `cmd:"" help:"Retry: a turn runs again as a new turn, a post is sent again."`
	Drop  deadlettersDropCmd  `cmd:"" help:"Remove from the list; the record stays in the database."`
}

// postView is the JSON output of a post.
type postView struct {
	Seq          int64               `json:"seq"`
	Key          string              `json:"key"`
	Kind         core.PostKind       `json:"kind"`
	State        core.RowState       `json:"state"`
	Conversation core.ConversationID `json:"conversation"`
	Event        int64               `json:"event,omitempty"`
	Text         string              `json:"text,omitempty"`
	Attempts     int                 `json:"attempts"`
	Cause        string              `json:"cause,omitempty"`
	WaitsUntil   time.Time           `json:"waits_until,omitzero"`
	CreatedAt    time.Time           `json:"created_at"`
	SentAt       time.Time           `json:"sent_at,omitzero"`
}

func viewPost(r core.OutboxRow) postView {
	var until time.Time
	if r.State == core.RowWaiting && r.Owner == "" {
		until = r.NextAt
	}
	return postView{
		r.Seq, r.Key, r.Kind, r.State, r.Conversation, r.Event, mask.Text(r.Text), r.Attempts, mask.Text(r.Cause),
		until.UTC(), r.CreatedAt.UTC(), r.SentAt.UTC(),
	}
}

// deadView is the JSON output of a dead letter: a turn or a post.
type deadView struct {
	Type string    `json:"type"`
	Turn *turnView `json:"turn,omitempty"`
	Post *postView `json:"post,omitempty"`
}

var deadTable = table[deadView]{
	none:   "There are no dead letters.",
	header: []string{"ID", "CONVERSATION", "SINCE", "REASON", "CAUSE"},
	row: func(d deadView) []string {
		if t := d.Turn; t != nil {
			return []string{
				fmt.Sprint(t.Seq), string(t.Conversation), cli.Stamp(t.EndedAt), string(t.Category), cli.Short(t.Cause),
			}
		}
		p := d.Post
		return []string{
			fmt.Sprintf("post:%d", p.Seq), string(p.Conversation), cli.Stamp(p.CreatedAt), string(p.State),
			cli.Short(p.Cause),
		}
	},
}

func deadTurn(e core.EventRecord) deadView {
	v := viewTurn(e)
	return deadView{Type: "turn", Turn: &v}
}

func deadPost(r core.OutboxRow) deadView {
	v := viewPost(r)
	return deadView{Type: "post", Post: &v}
}

type deadlettersListCmd struct {
	cli.JSONFlag
	Limit int `default:"50" help:"The maximum number of turns and of posts; 0 for all."`
}

// Run prints the list.
func (c deadlettersListCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	events, err := store.Events(ctx, core.EventFilter{Ends: []core.EndKind{core.EndDead}, Limit: c.Limit})
	if err != nil {
		return err
	}
	posts, err := store.ListPosts(ctx, []core.RowState{core.RowDead, core.RowUnknown}, "", c.Limit)
	if err != nil {
		return err
	}
	return deadTable.print(a, c.JSONFlag, append(cli.List(events, deadTurn), cli.List(posts, deadPost)...))
}

type deadlettersShowCmd struct {
	cli.JSONFlag
	ID string `arg:"" help:"${dead_letters_id}"`
}

// Run prints one dead letter.
func (c deadlettersShowCmd) Run(ctx context.Context, a *cli.App, agent Agent, store *storage.Store) error {
	if strings.HasPrefix(c.ID, "post:") {
		post, err := parseDeadLetter(c.ID)
		if err != nil {
			return err
		}
		return showPost(ctx, a, store, post, c.JSON)
	}
	events, err := findTurn(ctx, store, c.ID)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.End.Kind == core.EndDead || e.End.Kind == core.EndDropped {
			return showTurns(ctx, a, agent, store, events, c.JSON)
		}
	}
	return cli.Exit(cli.ExitBad,
		core.Errorf(core.Invalid, "Turn %s is not a dead letter. Its state is %s.", c.ID, turnState(events[0])))
}

type deadlettersRetryCmd struct {
	cli.JSONFlag
	ID []string `arg:"" help:"${dead_letters_id}"`
}

// Run retries. If a turn was retried before, it prints the turn that the first retry made.
func (c deadlettersRetryCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	made := []map[string]int64{}
	for _, id := range c.ID {
		dead, err := findDeadLetter(ctx, store, id)
		if err != nil {
			return err
		}
		if dead.post {
			if err := store.Resend(ctx, dead.seq); err != nil {
				return dead.fault(err)
			}
			made = append(made, map[string]int64{"post": dead.seq})
			if !c.JSON {
				a.PrintLine("Post %d will be sent again. If it had arrived after all, it appears twice.", dead.seq)
			}
			continue
		}
		r, err := store.Retry(ctx, dead.seq)
		if err != nil {
			return dead.fault(err)
		}
		made = append(made, map[string]int64{"turn": dead.seq, "again_as": r.Seq})
		if !c.JSON {
			a.PrintLine("Turn %d is retried as turn %d.", dead.seq, r.Seq)
		}
	}
	if c.JSON {
		return a.PrintJSON(made)
	}
	return nil
}

type deadlettersDropCmd struct {
	cli.JSONFlag
	cli.YesFlag
	ID []string `arg:"" help:"${dead_letters_id}"`
}

// Run drops.
func (c deadlettersDropCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	question := fmt.Sprintf("Drop %s? They can't be retried any more.", count(len(c.ID), "dead letter"))
	if err := a.Ask(ctx, c.YesFlag, question); err != nil {
		return err
	}
	dropped := []map[string]int64{}
	for _, id := range c.ID {
		dead, err := findDeadLetter(ctx, store, id)
		if err != nil {
			return err
		}
		drop, kind := store.Drop, "Turn"
		if dead.post {
			drop, kind = store.DropPost, "Post"
		}
		if err := drop(ctx, dead.seq); err != nil {
			return dead.fault(err)
		}
		dropped = append(dropped, map[string]int64{strings.ToLower(kind): dead.seq})
		if !c.JSON {
			a.PrintLine("%s %d is removed from the dead letters.", kind, dead.seq)
		}
	}
	if c.JSON {
		return a.PrintJSON(dropped)
	}
	return nil
}

// deadLetter is the number of a turn, or of a post.
type deadLetter struct {
	seq  int64
	post bool
}

// findDeadLetter finds a dead letter by a turn's number, post:NUMBER, or a turn's invocation id or a part of one.
func findDeadLetter(ctx context.Context, store *storage.Store, id string) (deadLetter, error) {
	dead, unread := parseDeadLetter(id)
	if unread == nil || strings.HasPrefix(id, "post:") {
		return dead, unread
	}
	events, err := findTurn(ctx, store, id)
	switch i := slices.IndexFunc(events, func(e core.EventRecord) bool { return e.End.Kind == core.EndDead }); {
	case core.CategoryOf(err) == core.NotFound:
		return dead, unread
	case err != nil:
		return dead, err
	case i < 0:
		return deadLetter{seq: events[0].Seq}, nil
	default:
		return deadLetter{seq: events[i].Seq}, nil
	}
}

// parseDeadLetter parses a turn's number or post:NUMBER.
func parseDeadLetter(id string) (deadLetter, error) {
	number, post := strings.CutPrefix(id, "post:")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil || post && seq <= 0 {
		return deadLetter{}, core.Errorf(core.Invalid, "%q is neither a turn number nor post:NUMBER. List dead "+
			"letters with gatehouse deadletters list.", id)
	}
	return deadLetter{seq, post}, nil
}

// fault sets the exit code of the store's error, and names the dead letter if it was not found.
func (d deadLetter) fault(err error) error {
	switch {
	case core.CategoryOf(err) != core.NotFound:
		return cli.Bad(err)
	case d.post:
		return unknownPost(d.seq)
	}
	return core.Errorf(core.NotFound, "There is no turn %d. List dead letters with gatehouse deadletters list.", d.seq)
}

// showPost prints a post that is a dead letter.
func showPost(ctx context.Context, a *cli.App, store *storage.Store, dead deadLetter, asJSON bool) error {
	posts, err := store.ListPosts(ctx, []core.RowState{core.RowDead, core.RowUnknown, core.RowDropped}, "", 0)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(posts, func(r core.OutboxRow) bool { return r.Seq == dead.seq })
	if i < 0 {
		return unknownPost(dead.seq)
	}
	if asJSON {
		return a.PrintJSON(deadPost(posts[i]))
	}
	v := viewPost(posts[i])
	answers := ""
	if v.Event != 0 {
		answers = fmt.Sprintf("turn %d", v.Event)
	}
	a.Fields(
		"post", fmt.Sprint(v.Seq),
		"state", string(v.State),
		"kind", string(v.Kind),
		"conversation", string(v.Conversation),
		"answers", answers,
		"created", cli.Stamp(v.CreatedAt),
		"attempts", fmt.Sprint(v.Attempts),
		"cause", v.Cause,
		"text", v.Text,
	)
	return nil
}

func unknownPost(seq int64) error {
	return core.Errorf(core.NotFound,
		"There is no post %d among the dead letters. List them with gatehouse deadletters list.", seq)
}
