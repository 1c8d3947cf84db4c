package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/storage/postgres/postgrestest"
)

// faulty are replicas behind one address, and the faults that come and go while people talk to them.
type faulty struct {
	*slackProcess
	chance    *rand.Rand
	addresses []string // of the replicas
	replicas  []*child
	pair      *postgrestest.Pair // nil: on SQLite
	broken    string             // the file that makes commits on SQLite fail
	limited   int                // how often Slack asked to wait
}

// stuckTime is how long something may wait once what kept it is gone.
const stuckTime = 10 * time.Second

// askedWait is how long Slack asks to wait where it does.
const askedWait = 2 * time.Second

// newFaulty starts the replicas: one on SQLite, three on a Postgres with a synchronous standby.
func newFaulty(t *testing.T, e engine, pair *postgrestest.Pair, seed uint64) *faulty {
	f := &faulty{
		chance: rand.New(rand.NewPCG(seed, 0)), pair: pair, broken: filepath.Join(t.TempDir(), "broken"),
	}
	f.slackProcess = &slackProcess{serveProcess: newServeProcess(t, e, "GATEHOUSE_AGENT=echo",
		"GATEHOUSE_ECHO_DELAY=500ms", failKey+"="+f.broken)}
	// Slack tries again after a minute and after five: here after what the test has time for
	fake := slacktest.Start(t, slacktest.Options{Wait: func(ctx context.Context, retry int) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(retry) * 2 * time.Second):
		}
	}})
	f.testGateway = &testGateway{t: t, slack: fake, base: f.balance()}
	f.idle = f.posted
	f.people()
	f.env = append(f.env, "SLACK_BOT_TOKEN="+fake.BotToken(), "SLACK_API_URL="+fake.APIURL(), "SLACK_CHANNEL_RPS=0",
		"SLACK_SIGNING_SECRET="+fake.SigningSecret())
	fake.SendTo(slacktest.Addresses{Events: f.base + "/slack/events", Interactions: f.base + "/slack/interactions"})
	f.addresses = []string{strings.TrimPrefix(f.at, "http://")}
	for pair != nil && len(f.addresses) < 3 {
		f.addresses = append(f.addresses, freeAddress(t))
	}
	f.replicas = make([]*child, len(f.addresses))
	for i := range f.replicas {
		f.begin(i)
	}
	return f
}

// balance is an address that leads each request to some replica.
func (f *faulty) balance() string {
	t := f.workbench.t
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: f.addresses[rand.IntN(len(f.addresses))]})
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	address := freeAddress(t)
	server := &http.Server{Addr: address, Handler: proxy}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = server.ListenAndServe() }()
	t.Cleanup(func() { server.Close(); <-ended })
	return "http://" + address
}

// begin starts a replica and waits until it answers.
func (f *faulty) begin(i int) {
	f.workbench.t.Helper()
	f.replicas[i] = f.workbench.start([]string{"GATEHOUSE_LISTEN=" + f.addresses[i]}, "serve")
	f.app = f.replicas[i]
	f.until("a replica", f.app, func() bool {
		answer, err := http.Get("http://" + f.addresses[i] + "/healthz")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
}

// fault is something that goes wrong, and gets well before it returns.
type fault struct {
	name string
	do   func(f *faulty)
}

// some waits for a part of a time.
func (f *faulty) some(most time.Duration) {
	time.Sleep(most/2 + time.Duration(f.chance.Int64N(int64(most/2)))) // a fault lasts; nothing is waited for
}

// ofSlack are calls that fail for a while.
func ofSlack(name string, trouble slacktest.Trouble, every, times int) fault {
	return fault{name, func(f *faulty) {
		in := f.slack.Inject(
			slacktest.Fault{Endpoint: "chat.postMessage", Trouble: trouble, Every: every, Times: times})
		f.some(3 * time.Second)
		in.Lift()
		if trouble.Status == http.StatusTooManyRequests {
			f.limited += in.Hits()
		}
	}}
}

var onBoth = []fault{
	ofSlack("Slack answers 503", slacktest.ServerError(503), 0, 0),
	ofSlack("Slack cuts connections", slacktest.Cut(), 2, 0),
	ofSlack("Slack's answers are lost", slacktest.AnswerLost(), 3, 0),
	ofSlack("Slack asks to wait", slacktest.RateLimited(askedWait), 2, 3),
	{"a replica is killed", func(f *faulty) {
		i := f.chance.IntN(len(f.replicas))
		f.replicas[i].kill()
		f.some(time.Second)
		f.begin(i)
	}},
}

var onSQLite = append([]fault{
	{"commits fail", func(f *faulty) {
		noErr(f.workbench.t, os.WriteFile(f.broken, nil, 0o600))
		f.some(3 * time.Second)
		noErr(f.workbench.t, os.Remove(f.broken))
	}},
	{"the database is locked", func(f *faulty) {
		db, err := sql.Open("sqlite3", strings.TrimPrefix(f.url, "sqlite:")+"?_busy_timeout=10000&_txlock=immediate")
		noErr(f.workbench.t, err)
		defer db.Close()
		tx, err := db.Begin()
		noErr(f.workbench.t, err)
		f.some(8 * time.Second)
		noErr(f.workbench.t, tx.Rollback())
	}},
}, onBoth...)

var onPostgres = append([]fault{
	{"connections are cut", func(f *faulty) {
		f.runs(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gatehouse'`)
	}},
	{"the database has an error that nobody knows", func(f *faulty) {
		f.runs(`create or replace function odd() returns trigger language plpgsql as $$ begin
				raise exception 'odd' using errcode = 'ZZ999'; end $$`,
			`create trigger odd before update on events for each row execute function odd()`)
		f.some(3 * time.Second)
		f.runs(`drop trigger odd on events`)
	}},
}, onBoth...)

// runs runs statements on whichever server is the primary.
func (f *faulty) runs(statements ...string) {
	f.workbench.t.Helper()
	noErr(f.workbench.t, postgrestest.Run(f.url+"&target_session_attrs=primary", statements...))
}

// isReady is the status with which a replica says whether it is ready.
func (f *faulty) isReady(address string) int {
	answer, err := http.Get("http://" + address + "/readyz")
	noErr(f.workbench.t, err)
	answer.Body.Close()
	return answer.StatusCode
}

// failover is that of the primary to its synchronous standby, which takes no writes for a while.
func failover(after time.Duration) fault {
	return fault{"failover", func(f *faulty) {
		f.pair.KillPrimary()
		over := time.After(after)
		for _, at := range f.addresses {
			red := func() bool { return f.isReady(at) == http.StatusServiceUnavailable }
			f.until("a replica that is not ready", f.app, red)
		}
		<-over
		f.pair.Promote()
	}}
}

// TestSeedsOfFaults: while people talk, faults come and go as a seed has it. What was acknowledged is answered once and
// in order, and nothing is stuck ten seconds after the last fault, but for waits that Slack asked for.
func TestSeedsOfFaults(t *testing.T) {
	t.Parallel()
	for n := range wide(uint64(20), 1) {
		t.Run(fmt.Sprintf("sqlite/%d", n), func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, sqliteFile, nil, n)
			f.goThrough(f.chosen(onSQLite, wide(5, 2)))
		})
		t.Run(fmt.Sprintf("postgres/%d", n), func(t *testing.T) {
			t.Parallel()
			pair := postgrestest.NewPair(t)
			e := engine{
				make: func(*testing.T) string { return pair.URL(pair.Primary, pair.Standby) },
				env:  []string{"GATEHOUSE_LEASE=1s"},
			}
			f := newFaulty(t, e, pair, n)
			faults := f.chosen(onPostgres, wide(5, 1))
			at := f.chance.IntN(len(faults) + 1)
			f.goThrough(slices.Insert(faults, at, failover(wide(6*time.Second, 2*time.Second))))
		})
	}
}

// running reports whether a message was accepted whose turn has not ended.
func (f *faulty) running() bool { return len(f.events(core.EventFilter{Waiting: true, Limit: 1})) > 0 }

// chosen are n of the faults, in the order of the seed.
func (f *faulty) chosen(all []fault, n int) (some []fault) {
	for _, i := range f.chance.Perm(len(all))[:n] {
		some = append(some, all[i])
	}
	return some
}

func (f *faulty) goThrough(faults []fault) {
	const threads = 8
	t, channels := f.workbench.t, f.addChannels(3)
	all := make([]*thread, threads)
	talk := func(round int) {
		for i := range all {
			word, hows := fmt.Sprintf("word-%d-%d.", i, round), []slacktest.ActionOption{slacktest.Twice()}
			if all[i] == nil {
				all[i] = &thread{channel: channels[i%len(channels)]}
			} else {
				hows = append(hows, slacktest.InThread(all[i].ts))
			}
			posted := f.ann.Posts(all[i].channel, f.slack.MentionOfBot()+" "+word, hows...)
			if all[i].ts == "" {
				all[i].ts = posted.TS
			}
			all[i].said, all[i].sent = append(all[i].said, word), append(all[i].sent, posted.Deliveries)
		}
	}
	for round, one := range faults {
		t.Logf("%s: %s", time.Now().Format("05.000"), one.name)
		talk(2 * round)
		f.until("turns that run", f.app, f.running)
		done := make(chan struct{})
		go func() {
			defer close(done)
			time.Sleep(500 * time.Millisecond) // so that it is said while the fault lasts
			talk(2*round + 1)
		}()
		one.do(f)
		<-done
	}
	gone := time.Now()
	_ = f.slack.WaitDelivered(f.ctx()) // what Slack has given up was never acknowledged
	delivered := time.Now()
	f.until("the end of all", f.app, func() bool { return f.settled() })
	took := time.Since(delivered)
	t.Logf("settled %s after the last fault, %s after the last delivery; Slack asked to wait %d times, for %s",
		time.Since(gone), took, f.limited, askedWait)
	if took > stuckTime+askedWait {
		t.Errorf("posts were stuck for %s after the last fault", took)
	}
	never := 0
	for _, at := range all {
		stored := f.stored(at)
		for i, word := range at.said {
			switch kept := slices.Contains(stored, word); {
			case acked(at.sent[i]) && !kept:
				t.Errorf("%q was acknowledged and is lost", word)
			case !kept:
				never++
			}
		}
		at.said = stored
	}
	t.Logf("%d of %d messages were never acknowledged", never, 2*len(faults)*threads)
	f.checkReplies(all)
	for _, e := range f.events(core.EventFilter{}) {
		due := e.AcceptedAt
		if due.Before(gone) {
			due = gone
		}
		if stuck := e.EndedAt.Sub(due); stuck > stuckTime || e.End.Kind != core.EndReplied {
			t.Errorf("event %d of %s ended %s after the last fault: %+v", e.Seq, e.Conversation, stuck, e.End)
		}
	}
}
