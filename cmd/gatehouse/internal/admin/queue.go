package admin

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/storage"
)

// Queue is gatehouse queue.
type Queue struct{ cli.JSONFlag }

type queueView struct {
	Queue    core.QueueKey `json:"queue"`
	Platform string        `json:"platform"`
	Waiting  int           `json:"waiting"`
	Oldest   time.Time     `json:"oldest,omitzero"`
	Owner    string        `json:"owner,omitempty"`
	ReadyAt  time.Time     `json:"ready_at,omitzero"`
}

func viewQueue(e core.QueueEntry) queueView {
	return queueView{e.Key, e.Platform, e.Waiting, e.Oldest.UTC(), e.Owner, e.ReadyAt.UTC()}
}

// Run prints queued turns, unsent messages and open approvals.
func (c Queue) Run(ctx context.Context, a *cli.App, store *storage.Store) error {
	q, err := store.Queue(ctx, 0)
	if err != nil {
		return err
	}
	posts, err := store.HeldPosts(ctx, 0)
	if err != nil {
		return err
	}
	restored, err := store.LastRestore(ctx)
	if err != nil {
		return err
	}
	mark, err := store.RestoreMark(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return a.PrintJSON(struct {
			Paused        bool        `json:"paused"`
			Conversations []queueView `json:"conversations"`
			Posts         int         `json:"posts"`
			InDoubt       int         `json:"posts_in_doubt"`
			DeadPosts     int         `json:"posts_dead"`
			Dead          int         `json:"dead_letters"`
			Approvals     int         `json:"approvals_open"`
			Held          []postView  `json:"posts_held"`

			Restored *core.Restored    `json:"restored,omitempty"`
			Marked   *core.RestoreMark `json:"restore_mark,omitempty"`
		}{
			q.Paused, cli.List(q.Entries, viewQueue), q.Posts, q.InDoubt, q.DeadPosts, q.Dead, q.Approvals,
			cli.List(posts, viewPost), restored, mark,
		})
	}
	if q.Paused {
		a.PrintLine("Paused: no new turns start. Resume with gatehouse unpause.")
	}
	tellRestored(a, restored, mark)
	err = a.Table("No queued turns.", []string{"QUEUE", "WAITING", "OLDEST", "OWNER", "DELAYED UNTIL"},
		cli.List(q.Entries, func(e core.QueueEntry) []string {
			return []string{string(e.Key), fmt.Sprint(e.Waiting), cli.Stamp(e.Oldest), e.Owner, cli.Stamp(e.ReadyAt)}
		}))
	a.PrintLine("Posts: %d waiting, %d that may not have arrived, %d refused. Dead turns: %d. Open approvals: %d.",
		q.Posts, q.InDoubt, q.DeadPosts, q.Dead, q.Approvals)
	for _, p := range posts {
		until := "is being tried now"
		if p.Owner == "" {
			until = "will be retried at " + cli.Stamp(p.NextAt)
		}
		a.PrintLine("Post %d in %s %s: %s", p.Seq, cli.Cell(string(p.Conversation)), until,
			cli.Cell(mask.Text(p.Cause)))
	}
	return err
}

// Pause is gatehouse pause.
type Pause struct{ cli.JSONFlag }

// Run pauses all processes on the database.
func (c Pause) Run(ctx context.Context, a *cli.App) error {
	return setPaused(ctx, a, c.JSONFlag, true,
		"Paused: no new turns start until gatehouse unpause. Messages are kept; clicks and control words are still "+
			"answered.")
}

// Unpause is gatehouse unpause.
type Unpause struct{ cli.JSONFlag }

// Run resumes.
func (c Unpause) Run(ctx context.Context, a *cli.App) error {
	return setPaused(ctx, a, c.JSONFlag, false, "Resumed: new turns start again.")
}

func setPaused(ctx context.Context, a *cli.App, json cli.JSONFlag, paused bool, sentence string) error {
	cfg, log, err := a.Config(slog.LevelWarn)
	if err != nil {
		return err
	}
	store, err := a.NewStore(ctx, cfg, log)
	if err != nil {
		return err
	}
	if err := store.SetPaused(ctx, paused); err != nil {
		return err
	}
	if json.JSON {
		return a.PrintJSON(map[string]bool{"paused": paused})
	}
	a.PrintLine("%s", sentence)
	return nil
}

// tellRestored says that the database was put back, and what is not in it.
func tellRestored(a *cli.App, r *core.Restored, m *core.RestoreMark) {
	if m != nil {
		a.PrintLine("The database was restored from a backup of %s. What had not ended then is ended when gatehouse "+
			"serve starts.", taken(*m))
	}
	if r == nil {
		return
	}
	missed := "was not fetched from the platforms"
	if r.CatchUp {
		missed = "was fetched from the platforms that can"
	}
	a.PrintLine("Restored at %s from a backup of %s: what arrived between is not in this database, and %s. %d "+
		"approvals were cancelled, %d events became dead letters, and %d posts in doubt were looked up.",
		cli.Stamp(r.At), taken(r.RestoreMark), missed, r.Settled.Approvals, r.Settled.Events, r.Settled.Posts)
}

func taken(m core.RestoreMark) string {
	if m.Taken.IsZero() {
		return "an unknown time"
	}
	return cli.Stamp(m.Taken)
}
