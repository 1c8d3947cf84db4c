package admin

import (
	"context"
	"fmt"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// DeadLetters is gatehouse deadletters: turns that failed for good, and posts that were refused or may not have arrived.
type DeadLetters struct {
	List  deadlettersListCmd  `cmd:"" help:"List turns that failed for good, and posts that were refused or may not have arrived."`
	Show  deadlettersShowCmd  `cmd:"" help:"Show a dead letter."`
	Retry deadlettersRetryCmd `cmd:"" help:"Retry: a turn runs again as a new turn, a post is sent again."`
	Drop  deadlettersDropCmd  `cmd:"" help:"Remove from the list; the record stays in the database."`
}

type deadlettersListCmd struct {
	cli.JSONFlag
	Limit int `default:"50" help:"The maximum number of turns and of posts; 0 for all."`
}

// deadView is a line of the listing: a turn or a post.
type deadView struct {
	Type string    `json:"type"`
	Turn *turnView `json:"turn,omitempty"`
	Post *postView `json:"post,omitempty"`
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
	views, rows := []deadView{}, [][]string{}
	for _, e := range events {
		v := viewTurn(e)
		views = append(views, deadView{Type: "turn", Turn: &v})
		rows = append(rows, []string{fmt.Sprint(e.Seq), string(e.Conversation), cli.Stamp(e.EndedAt), string(e.End.Category), cli.Short(e.End.Cause)})
	}
	for _, p := range posts {
		v := viewPost(p)
		views = append(views, deadView{Type: "post", Post: &v})
		rows = append(rows, []string{fmt.Sprintf("post:%d", p.Seq), string(p.Conversation), cli.Stamp(p.CreatedAt), string(p.State), cli.Short(p.Cause)})
	}
	if c.JSON {
		return a.PrintJSON(views)
	}
	return a.Table("There are no dead letters.", []string{"ID", "CONVERSATION", "SINCE", "REASON", "CAUSE"}, rows)
}

type deadlettersShowCmd struct {
	cli.JSONFlag
	ID string `arg:"" help:"A turn's number or invocation id, or post:NUMBER."`
}

// Run prints one dead letter.
func (c deadlettersShowCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	if seq, ok, err := postNumber(c.ID); ok || err != nil {
		if err != nil {
			return err
		}
		return showPost(ctx, a, store, seq, c.JSON)
	}
	events, err := findTurn(ctx, store, c.ID)
	if err != nil {
		return err
	}
	for _, e := range events {
		if e.End.Kind == core.EndDead || e.End.Kind == core.EndDropped {
			return showTurns(ctx, a, store, events, c.JSON)
		}
	}
	return cli.Exit(cli.ExitBad, core.Errorf(core.Invalid, "Turn %s is not a dead letter. Its state is %s.", c.ID, turnState(events[0])))
}

type deadlettersRetryCmd struct {
	cli.JSONFlag
	ID []string `arg:"" help:"Turn numbers, or post:NUMBER for posts."`
}

// Run retries. For a turn that was retried before it gives the turn that the first call made.
func (c deadlettersRetryCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	made := []map[string]int64{}
	for _, id := range c.ID {
		turn, post, err := deadLetter(id)
		if err != nil {
			return err
		}
		if post != 0 {
			if err := store.Resend(ctx, post); err != nil {
				return noPost(err, post)
			}
			made = append(made, map[string]int64{"post": post})
			if !c.JSON {
				a.Say("Post %d will be sent again. If it had arrived after all, it appears twice.", post)
			}
			continue
		}
		r, err := store.Retry(ctx, turn)
		if err != nil {
			return noTurn(err, turn)
		}
		made = append(made, map[string]int64{"turn": turn, "again_as": r.Seq})
		if !c.JSON {
			a.Say("Turn %d is retried as turn %d.", turn, r.Seq)
		}
	}
	if c.JSON {
		return a.PrintJSON(made)
	}
	return nil
}

type deadlettersDropCmd struct {
	ID []string `arg:"" help:"Turn numbers, or post:NUMBER for posts."`
}

// Run drops.
func (c deadlettersDropCmd) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	for _, id := range c.ID {
		turn, post, err := deadLetter(id)
		if err != nil {
			return err
		}
		if post != 0 {
			if err := store.DropPost(ctx, post); err != nil {
				return noPost(err, post)
			}
			a.Say("Post %d is removed from the dead letters.", post)
			continue
		}
		if err := store.Drop(ctx, turn); err != nil {
			return noTurn(err, turn)
		}
		a.Say("Turn %d is removed from the dead letters.", turn)
	}
	return nil
}

// noTurn names the turn in an error of category not_found.
func noTurn(err error, seq int64) error {
	if core.CategoryOf(err) == core.NotFound {
		return core.Errorf(core.NotFound, "There is no turn %d. List dead letters with gatehouse deadletters list.", seq)
	}
	return cli.Bad(err)
}
