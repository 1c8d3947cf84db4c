package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
)

type queueCmd struct{ asJSON }

type conversationView struct {
	Queue      core.QueueKey `json:"queue"`
	Platform   string        `json:"platform"`
	Waiting    int           `json:"waiting"`
	Oldest     time.Time     `json:"oldest,omitzero"`
	Owner      string        `json:"owner,omitempty"`
	LeaseUntil time.Time     `json:"lease_until,omitzero"`
	ReadyAt    time.Time     `json:"ready_at,omitzero"`
}

func viewConversation(l core.QueueEntry) conversationView {
	return conversationView{l.Key, l.Platform, l.Waiting, utc(l.Oldest), l.Owner, utc(l.LeaseUntil), utc(l.ReadyAt)}
}

// Run shows what waits.
func (c queueCmd) Run(ctx context.Context, a *app) error {
	return a.withStore(ctx, func(store core.Store) error {
		q, err := store.Queue(ctx)
		if err != nil {
			return err
		}
		posts, err := store.ListPosts(ctx, []core.RowState{core.RowWaiting}, "", 0)
		if err != nil {
			return err
		}
		posts = slices.DeleteFunc(posts, func(p core.OutboxRow) bool { return p.Cause == "" }) // it was not tried yet
		if c.JSON {
			return a.json(struct {
				Paused        bool               `json:"paused"`
				Conversations []conversationView `json:"conversations"`
				Posts         int                `json:"posts"`
				InDoubt       int                `json:"posts_in_doubt"`
				DeadPosts     int                `json:"posts_dead"`
				Dead          int                `json:"dead_letters"`
				Approvals     int                `json:"approvals_open"`
				Held          []postView         `json:"posts_held"`
			}{q.Paused, list(q.Entries, viewConversation), q.Posts, q.InDoubt, q.DeadPosts, q.Dead, q.Approvals, list(posts, viewPost)})
		}
		if q.Paused {
			a.say("Paused: no turns are taken. gatehouse unpause goes on.")
		}
		err = a.table("No conversation waits.", []string{"CONVERSATION", "WAITING", "OLDEST", "HELD BY", "UNTIL", "READY"}, list(q.Entries, func(l core.QueueEntry) []string {
			return []string{string(l.Key), fmt.Sprint(l.Waiting), stamp(l.Oldest), l.Owner, stamp(l.LeaseUntil), stamp(l.ReadyAt)}
		}))
		a.say("%d posts wait, %d may not have arrived, %d were refused; %d dead letters; %d approvals open.", q.Posts, q.InDoubt, q.DeadPosts, q.Dead, q.Approvals)
		for _, p := range posts {
			a.say("Post %d in %s is tried again at %s: %s", p.Seq, cell(string(p.Conversation)), stamp(p.NextAt), cell(p.Cause))
		}
		return err
	})
}

type pauseCmd struct{}

// Run pauses.
func (pauseCmd) Run(ctx context.Context, a *app) error {
	return a.setPaused(ctx, true, "Paused: no turns are taken until gatehouse unpause. What comes in is kept, clicks and controls are answered.")
}

type unpauseCmd struct{}

// Run goes on.
func (unpauseCmd) Run(ctx context.Context, a *app) error {
	return a.setPaused(ctx, false, "Turns are taken again.")
}

func (a *app) setPaused(ctx context.Context, paused bool, sentence string) error {
	return a.withNewStore(ctx, func(store core.Store) error {
		if err := store.SetPaused(ctx, paused); err != nil {
			return err
		}
		a.say("%s", sentence)
		return nil
	})
}
