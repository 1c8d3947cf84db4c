package main

import (
	"context"
	"fmt"

	"gatehouse/core"
)

type deadlettersCmd struct {
	List  deadlettersListCmd  `cmd:"" help:"List turns that gave up, and posts that were refused or may not have arrived."`
	Show  deadlettersShowCmd  `cmd:"" help:"Show one."`
	Retry deadlettersRetryCmd `cmd:"" help:"Try again: a new turn with the same content, or a post sent after all."`
	Drop  deadlettersDropCmd  `cmd:"" help:"Put away; the record stays."`
}

type deadlettersListCmd struct {
	asJSON
	Limit int `default:"50" help:"How many of each; 0 for all."`
}

// deadView is a line of the listing: a turn or a post.
type deadView struct {
	Type string    `json:"type"`
	Turn *turnView `json:"turn,omitempty"`
	Post *postView `json:"post,omitempty"`
}

// Run lists.
func (c deadlettersListCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
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
			rows = append(rows, []string{fmt.Sprint(e.Seq), string(e.Conversation), stamp(e.EndedAt), string(e.End.Category), short(e.End.Cause)})
		}
		for _, p := range posts {
			v := viewPost(p)
			views = append(views, deadView{Type: "post", Post: &v})
			rows = append(rows, []string{fmt.Sprintf("post:%d", p.Seq), string(p.Conversation), stamp(p.CreatedAt), string(p.State), short(p.Cause)})
		}
		if c.JSON {
			return a.json(views)
		}
		return a.table("There are no dead letters.", []string{"WHICH", "CONVERSATION", "SINCE", "WHY", "CAUSE"}, rows)
	})
}

type deadlettersShowCmd struct {
	asJSON
	ID string `arg:"" help:"The number of a turn, the id of its invocation, or post:NUMBER."`
}

// Run shows.
func (c deadlettersShowCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		if seq, ok, err := postNumber(c.ID); ok || err != nil {
			return a.showPost(ctx, store, seq, err, c.JSON)
		}
		events, err := findTurn(ctx, store, c.ID)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.End.Kind == core.EndDead || e.End.Kind == core.EndDropped {
				return a.showTurns(ctx, store, events, c.JSON)
			}
		}
		return &exitError{codeBad, core.Errorf(core.Invalid, "The turn %s is no dead letter: its state is %s.", c.ID, turnState(events[0]))}
	})
}

type deadlettersRetryCmd struct {
	asJSON
	ID []string `arg:"" help:"Numbers of turns; post:NUMBER for posts."`
}

// Run tries again. A repeat gives the turn that the first call made.
func (c deadlettersRetryCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
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
					a.say("Post %d is sent again. Where nobody knew whether it arrived, it may stand there twice.", post)
				}
				continue
			}
			r, err := store.Retry(ctx, turn)
			if err != nil {
				return noTurn(err, turn)
			}
			made = append(made, map[string]int64{"turn": turn, "again_as": r.Seq})
			if !c.JSON {
				a.say("Turn %d is tried again as turn %d.", turn, r.Seq)
			}
		}
		if c.JSON {
			return a.json(made)
		}
		return nil
	})
}

type deadlettersDropCmd struct {
	ID []string `arg:"" help:"Numbers of turns; post:NUMBER for posts."`
}

// Run drops.
func (c deadlettersDropCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		for _, id := range c.ID {
			turn, post, err := deadLetter(id)
			if err != nil {
				return err
			}
			if post != 0 {
				if err := store.DropPost(ctx, post); err != nil {
					return noPost(err, post)
				}
				a.say("Post %d is put away.", post)
				continue
			}
			if err := store.Drop(ctx, turn); err != nil {
				return noTurn(err, turn)
			}
			a.say("Turn %d is put away.", turn)
		}
		return nil
	})
}

// noTurn names the turn that is not there.
func noTurn(err error, seq int64) error {
	if core.CategoryOf(err) == core.NotFound {
		return core.Errorf(core.NotFound, "There is no turn %d; gatehouse deadletters list shows those that gave up.", seq)
	}
	return bad(err)
}
