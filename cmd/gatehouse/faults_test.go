package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
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

// readiness returns the status and the body of /readyz.
func (p *slackProcess) readiness() (status int, state readiness) {
	p.workbench.t.Helper()
	answer, err := http.Get(p.at + "/readyz")
	if err != nil {
		p.workbench.t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&state); err != nil {
		p.workbench.t.Fatalf("/readyz does not answer with JSON: %v", err)
	}
	return answer.StatusCode, state
}

// notReady waits until /readyz answers 503 with a word about the database or the turns.
func (p *slackProcess) notReady(word string) {
	p.workbench.t.Helper()
	p.until("/readyz with 503 and "+word, p.app, func() bool {
		status, state := p.readiness()
		return status == http.StatusServiceUnavailable && strings.Contains(state.Database+state.Turns, word)
	})
}

// readyAgain waits until /readyz answers 200.
func (p *slackProcess) readyAgain() {
	p.workbench.t.Helper()
	p.until("/readyz with 200", p.app, func() bool {
		status, _ := p.readiness()
		return status == http.StatusOK
	})
}

// TestFailingCommitsLoseNothing makes all commits of a process fail while its turns run, for longer than its heartbeat.
// Afterwards each message is answered once, none has become a dead letter, and no attempt counts as a death.
func TestFailingCommitsLoseNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		broken := filepath.Join(t.TempDir(), "broken")
		p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=200ms", failKey+"="+broken)
		p.open()
		p.readyAgain()
		const messages = 40
		channels := p.addChannels(4)
		var said []*thread
		for i := range messages {
			at, word := &thread{channel: channels[i%len(channels)]}, fmt.Sprintf("word-%d-0.", i)
			at.ts = p.ann.Posts(at.channel, p.slack.MentionOfBot()+" "+word).TS
			at.said = []string{word}
			said = append(said, at)
		}
		over := p.ctx()
		noErr(t, p.slack.WaitDelivered(over))
		noErr(t, os.WriteFile(broken, nil, 0o600))
		p.notReady("takes no writes")
		other, err := p.store.Register(t.Context(), "observer", 0) // beats as another replica would that can write
		for i := 0; i < 3 && err == nil; i++ {
			err = p.store.Beat(t.Context(), other)
		}
		noErr(t, err)
		noErr(t, os.Remove(broken))
		p.readyAgain()
		p.until("the end of all", p.app, p.settled)
		for _, ev := range p.events(core.EventFilter{}) {
			if ev.End.Kind != core.EndReplied || ev.Attempt != 1 {
				t.Errorf("event %d: %+v, attempt %d", ev.Seq, ev.End, ev.Attempt)
			}
		}
		p.answered(said, patience)
	})
}

// TestAClockThatStepsBackStallsNothing sets the clock of the store back while messages wait, and once more while the
// process is restarted: on SQLite the process's own, on Postgres the database's. All are answered without waiting for
// the clock.
func TestAClockThatStepsBackStallsNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		file := filepath.Join(t.TempDir(), "clock")
		p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=100ms",
			"GATEHOUSE_WORKERS=4", clockKey+"="+file)
		step := func(by time.Duration) {
			err := os.WriteFile(file, []byte(by.String()), 0o600)
			if !strings.HasPrefix(p.url, "sqlite:") {
				err = postgrestest.Run(p.url,
					fmt.Sprintf(`update test_clock set moved = interval '%d seconds'`, int(by.Seconds())))
			}
			noErr(t, err)
		}
		if !strings.HasPrefix(p.url, "sqlite:") {
			noErr(t, postgrestest.MovableClock(p.url))
		}
		p.open()
		said := p.sendAll(p.addChannels(4), 40, 1, func(int) {})
		noErr(t, p.slack.WaitDelivered(p.ctx()))
		step(-4 * time.Minute)
		p.until("a first answer", p.app, func() bool {
			return len(p.events(core.EventFilter{Ends: []core.EndKind{core.EndReplied}})) > 10
		})
		p.app.kill()
		step(-10 * time.Minute) // less than what marks a reply as late: posts are dated by the system's clock
		p.open()
		p.answered(said, patience)
	})
}

// TestReadyzKnowsTurnsThatNobodyTakes: a turn is due, workers are free, and still nobody takes it.
func TestReadyzKnowsTurnsThatNobodyTakes(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=3s")
		p.open()
		p.readyAgain()
		release := p.hold()
		channel := p.addChannels(1)[0]
		// its turn begins as it is accepted; the next one has to wait for its end
		first := p.ann.Posts(channel, p.slack.MentionOfBot()+" hello")
		p.ann.Posts(channel, p.slack.MentionOfBot()+" are you there?", slacktest.InThread(first.TS))
		p.notReady("Turns have been waiting")
		release()
		p.until("the answer", p.app, p.settled)
		p.readyAgain()
	})
}

// TestOnePersonsFloodDelaysNobodyElse: one person's many mentions are there before another's single one, which is
// answered next.
func TestOnePersonsFloodDelaysNobodyElse(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		const workers, flood = 4, 300
		p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=100ms",
			fmt.Sprintf("GATEHOUSE_WORKERS=%d", workers), "GATEHOUSE_RATE=0")
		p.open()
		// until all are there, whatever the machine's speed
		noErr(t, p.store.SetPaused(t.Context(), true))
		channels := p.addChannels(1)
		for n := range flood {
			p.ann.Posts(channels[0], fmt.Sprintf("%s word-%d-0.", p.slack.MentionOfBot(), n))
		}
		noErr(t, p.slack.WaitDelivered(p.ctx()))
		p.bob.Posts("C1", p.slack.MentionOfBot()+" word-1-1.")
		noErr(t, p.slack.WaitDelivered(p.ctx()))
		noErr(t, p.store.SetPaused(t.Context(), false))
		p.until("the other person's answer", p.app, func() bool {
			done := p.events(core.EventFilter{Ends: []core.EndKind{core.EndReplied}})
			return slices.ContainsFunc(done, func(ev core.EventRecord) bool { return ev.Actor.ID == "slack:U2BOB" })
		})
		before := 0
		done := p.events(core.EventFilter{Ends: []core.EndKind{core.EndReplied}})
		bobs := done[slices.IndexFunc(done, func(ev core.EventRecord) bool {
			return ev.Actor.ID == "slack:U2BOB"
		})].EndedAt
		for _, ev := range done {
			if ev.Actor.ID == "slack:U1ANN" && ev.EndedAt.Before(bobs) {
				before++
			}
		}
		if before > 2*workers {
			t.Errorf(
				"%d of the flood's turns ended before the other person's, want no more than those that ran already",
				before)
		}
	})
}

// hold keeps all processes from claiming anything, and returns the way to end that.
func (p *slackProcess) hold() (release func()) {
	t := p.workbench.t
	t.Helper()
	if file, ok := strings.CutPrefix(p.url, "sqlite:"); ok {
		db, err := sql.Open("sqlite3", file+"?_busy_timeout=10000")
		noErr(t, err)
		t.Cleanup(func() { _ = db.Close() })
		exec := func(statement string) {
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
		exec(
			`create trigger hold after update of head on queues when new.suspect = 0 begin update queues set ` +
				`suspect = null where queue_key = new.queue_key; end`)
		return func() {
			exec(`drop trigger hold`)
			exec(`update queues set suspect = 0 where suspect is null and ready_at is not null`)
		}
	}
	if err := postgrestest.Run(p.url,
		`create function hold() returns trigger language plpgsql as $$ begin new.ready_at := new.ready_at; `+
			`new.platform := new.platform; new.suspect := null; return new; end $$`,
		`create trigger hold before update on queues for each row execute function hold()`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := postgrestest.Run(p.url, `drop trigger hold on queues`,
			`update queues set suspect = false where suspect is null and ready_at is not null`); err != nil {
			t.Fatal(err)
		}
	}
}
