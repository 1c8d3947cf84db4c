package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"gatehouse/core"
	"gatehouse/storage/postgres"
	"gatehouse/storage/postgres/postgrestest"
)

// BenchmarkReplies runs turns from the accepted message to the delivered reply, each session's one after the other, as
// dispatch and outbox run them: what can be is claimed with the commit that adds it; one loop claims other turns, one
// other posts, and each wakes up when there may be something to claim. Besides the time it reports, for each reply:
// round trips to the server, commits, and the CPU time of the server's processes for this database, where it runs on
// the same machine. BenchmarkCommit is what the server can do at best.
func BenchmarkReplies(b *testing.B) {
	for _, sessions := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) { replies(b, sessions) })
	}
}

func replies(b *testing.B, sessions int) {
	ctx := context.Background()
	url := postgrestest.New(b)
	var statements, commits atomic.Int64
	s := open(b, url, postgres.Options{Trace: func(st postgres.Statement) {
		statements.Add(1)
		if st.SQL == "commit" {
			commits.Add(1)
		}
	}})
	owner, err := s.Register(ctx, "bench", time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	r := &replier{
		b: b, store: s, owner: owner, turns: make(chan struct{}, 1), posts: make(chan struct{}, 1),
		done: map[core.ConversationID]chan struct{}{},
	}
	for n := range sessions {
		r.done[conversation(n)] = make(chan struct{}, 1)
	}
	var loops sync.WaitGroup
	loopCtx, stop := context.WithCancel(ctx)
	loops.Go(func() { r.takeTurns(loopCtx, &loops, sessions) })
	loops.Go(func() { r.deliverPosts(loopCtx, &loops) })
	speak := func(rounds func() bool) {
		var all sync.WaitGroup
		for n := range sessions {
			all.Go(func() {
				for rounds() && !b.Failed() {
					r.say(ctx, n)
				}
			})
		}
		all.Wait()
	}
	var warm atomic.Int64
	speak(func() bool { return warm.Add(1) <= 200 })
	var said atomic.Int64
	server, sent, ran, committed := processes(b, url), s.RoundTrips(), statements.Load(), commits.Load()
	before := server.cpu()
	b.ResetTimer()
	speak(func() bool { return said.Add(1) <= int64(b.N) })
	b.StopTimer()
	per := func(n int64) float64 { return float64(n) / float64(b.N) }
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "replies/s")
	b.ReportMetric(per(s.RoundTrips()-sent), "trips/reply")
	b.ReportMetric(per(statements.Load()-ran), "stmts/reply")
	b.ReportMetric(per(commits.Load()-committed), "commits/reply")
	b.ReportMetric(per(int64(server.cpu()-before)/1000), "server-µs/reply")
	stop()
	loops.Wait()
}

func conversation(n int) core.ConversationID { return core.ConversationID(fmt.Sprint("p:", n)) }

// replier takes turns and delivers their replies.
type replier struct {
	b            *testing.B
	store        *postgres.Store
	owner        string
	said         atomic.Int64
	turns, posts chan struct{}
	done         map[core.ConversationID]chan struct{}
}

func (r *replier) fail(err error) {
	if err != nil {
		r.b.Error(err)
	}
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// say accepts a message and waits for its reply.
func (r *replier) say(ctx context.Context, n int) {
	_, claim, err := r.store.AcceptClaim(ctx, core.Event{
		Platform: "p", ID: fmt.Sprint(r.said.Add(1)), Conversation: conversation(n), Body: core.MessageEvent{},
		Payload: []byte(`"` + strings.Repeat("hello ", 40) + `"`),
		Address: core.Address{Platform: "p", Channel: fmt.Sprint("c", n)}, Actor: core.Actor{ID: fmt.Sprint("p:u", n)},
	}, r.owner)
	r.fail(err)
	if claim == nil {
		nudge(r.turns)
	} else {
		r.turn(ctx, *claim)
	}
	<-r.done[conversation(n)]
}

func (r *replier) takeTurns(ctx context.Context, all *sync.WaitGroup, slots int) {
	for {
		claims, err := r.store.Claim(context.WithoutCancel(ctx),
			core.ClaimRequest{Owner: r.owner, Limit: slots, Scopes: served})
		r.fail(err)
		for _, c := range claims {
			all.Go(func() { r.turn(context.WithoutCancel(ctx), c) })
		}
		if len(claims) > 0 {
			continue
		}
		select {
		case <-r.turns:
		case <-ctx.Done():
			return
		}
	}
}

func (r *replier) turn(ctx context.Context, c core.Claim) {
	w := core.Writer{Invocation: c.Event.Invocation}
	rec, err := r.store.LoadSession(ctx, c.Session, w)
	r.fail(err)
	if rec == nil {
		rec = &core.SessionRecord{ID: c.Session, Messages: &core.History{}}
	}
	_, err = rec.Messages.Page(ctx, 0, 10)
	r.fail(err)
	text := core.Text(strings.Repeat("hello ", 40))
	h := rec.Messages.Append(core.Message{Role: core.User, Content: text},
		core.Message{Role: core.Assistant, Content: text})
	rec.Messages, rec.Writer = &h, w
	handed, left := &core.Handover{Platform: "p", Limit: 1}, core.Left{}
	r.fail(
		r.store.Finish(ctx,
			core.Finish{
				Handover: handed, Left: &left, Claim: c, End: core.End{Kind: core.EndReplied}, Changes: core.Changes{
					Session: rec,
					Posts: []core.Post{{
						Key: fmt.Sprint("reply/", c.Event.Seq), To: c.Event.Address, Conversation: c.Event.Conversation,
						Kind: core.PostReply, Text: "hello", Event: c.Event.Seq,
					}},
				},
			}))
	for _, row := range handed.Rows {
		r.deliver(ctx, row)
	}
	if left.Turns {
		nudge(r.turns)
	}
	if left.Posts {
		nudge(r.posts)
	}
}

func (r *replier) deliverPosts(ctx context.Context, all *sync.WaitGroup) {
	for {
		rows, err := r.store.ClaimPosts(context.WithoutCancel(ctx),
			core.PostRequest{Owner: r.owner, Limit: 64, Scopes: served})
		r.fail(err)
		for _, row := range rows {
			all.Go(func() { r.deliver(context.WithoutCancel(ctx), row) })
		}
		if len(rows) > 0 {
			continue
		}
		select {
		case <-r.posts:
		case <-ctx.Done():
			return
		}
	}
}

func (r *replier) deliver(ctx context.Context, row core.OutboxRow) {
	row.Parts, row.Shown, row.State = []core.Part{{Ref: "r"}}, row.Wanted, core.RowSent
	more, err := r.store.ReleasePost(ctx, row, 0)
	r.fail(err)
	if more {
		nudge(r.posts)
	}
	r.done[row.Conversation] <- struct{}{}
}

// BenchmarkCommit commits changes of one row, one after the other and 16 at a time.
func BenchmarkCommit(b *testing.B) {
	for _, rows := range []int{1, 16} {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			url := postgrestest.New(b)
			run(b, url, `create table counters (n bigint primary key, at bigint not null)`, `insert into counters
				select n, 0 from generate_series(1, 16) n`)
			var conns []*pgx.Conn
			for range rows {
				conns = append(conns, connect(b, url))
			}
			var did atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for n, conn := range conns {
				all.Go(func() {
					for did.Add(1) <= int64(b.N) {
						if _, err := conn.Exec(context.Background(), `update counters set at = at + 1
							where n = $1`, n+1); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// serverProcesses are the ids of a database's server processes on this machine.
type serverProcesses []int32

func processes(b *testing.B, url string) serverProcesses {
	rows, err := connect(b, url).Query(context.Background(), `select pid from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()
			or backend_type in ('walwriter', 'checkpointer')`)
	if err != nil {
		b.Fatal(err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		b.Fatal(err)
	}
	return pids
}

// cpu returns the CPU time of the processes; 0 where they are not on this machine. Linux counts it in hundredths of a
// second.
func (p serverProcesses) cpu() (sum time.Duration) {
	for _, pid := range p {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0
		}
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')'):])
		for _, ticks := range fields[12:14] {
			n, err := strconv.Atoi(string(ticks))
			if err != nil {
				return 0
			}
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}
