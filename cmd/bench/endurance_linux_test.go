//go:build soak

package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatehouse/cmd/bench/internal/discord"
	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/process"
	"gatehouse/cmd/bench/internal/slack"
)

// What the endurance test does unless its environment says otherwise: TEST_ENDURANCE is for how long events are sent,
// TEST_ENDURANCE_EVENTS how many at most.
const (
	enduranceTime   = 30 * time.Minute
	enduranceEvents = 1_000_000
)

const (
	enduranceLives = 30               // for how many processes the time is divided
	shortestLife   = 10 * time.Second // of a process that is killed
	aloneFrom      = 0.8              // the part of the time, or of the events, from which on no process is killed
	enduranceDelay = 100 * time.Millisecond
	slowEach       = 3 // of so many processes one has an agent that takes enduranceDelay
	patience       = 3 * time.Minute
)

// endurance is a gatehouse serve between a Slack and a Discord, killed and started again.
type endurance struct {
	t         *testing.T
	time      time.Duration
	events    int
	life      time.Duration
	ctx       context.Context
	began     time.Time
	program   string
	dir       string
	file      string // of the database
	env       []string
	address   string
	platforms []*enduring
	taken     atomic.Int64 // events that the platforms have taken over to send
	child     *process.Process
	lives     []*life
}

// enduring is one of the platforms.
type enduring struct {
	load.Platform
	name  string
	book  *ledger.Ledger
	chunk int // how many events are sent before the time is looked at
	sent  int // valid once all are sent
}

// life is what was seen of one process.
type life struct {
	ready   time.Duration // how long it took from its start until it was ready
	began   time.Time     // when it was ready
	slow    bool
	samples []sample
	stored  stored
}

// sample is what was seen at a moment.
type sample struct {
	age     time.Duration // of the process, since it was ready
	replied int           // in the whole test
	log     int64         // the size of the database's log
	process.Held
}

// TestEndurance sends a million events, or those of half an hour, to one gatehouse over Slack and Discord at the same
// time. Some events come twice, some posts are refused with 429, and the process is killed again and again. Every third
// one has a slow agent, and the last one may live longer. Each event has exactly one reply, and neither memory,
// descriptors, threads nor the database's file grow beyond what is stored.
func TestEndurance(t *testing.T) {
	e := newEndurance(t)
	e.start()
	sending := e.send()
	for e.progress() < aloneFrom && e.live(time.After(e.life), sending) {
		e.child.Kill()
		e.start()
	}
	e.live(nil, sending)
	e.await()
	e.child.End(syscall.SIGTERM)
	e.checkReplies()
	e.checkLog()
	e.checkProcesses()
	e.checkDatabase()
}

func newEndurance(t *testing.T) *endurance {
	t.Helper()
	e := &endurance{t: t, time: enduranceTime, events: enduranceEvents, program: gatehouse(t), dir: t.TempDir()}
	var err error
	if text := os.Getenv("TEST_ENDURANCE"); text != "" {
		if e.time, err = time.ParseDuration(text); err != nil {
			t.Fatalf("TEST_ENDURANCE: %v", err)
		}
	}
	if text := os.Getenv("TEST_ENDURANCE_EVENTS"); text != "" {
		if e.events, err = strconv.Atoi(text); err != nil {
			t.Fatalf("TEST_ENDURANCE_EVENTS: %v", err)
		}
	}
	e.life = max(e.time/enduranceLives, shortestLife)
	var stop context.CancelFunc
	e.ctx, stop = context.WithTimeout(t.Context(), e.time+e.time/5+2*patience)
	t.Cleanup(stop)
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	e.address, e.file = "http://127.0.0.1:"+port, filepath.Join(e.dir, "gatehouse.db")
	plan := load.Plan{Senders: 16, Threads: 1000, Backlog: 3000, Mode: load.Mixed}
	book := ledger.New(e.events)
	one, err := slack.Start(book, plan, e.address+pathEvents)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(one.Close)
	e.platforms = append(e.platforms, &enduring{Platform: one, name: "Slack", book: book, chunk: 500})
	// Discord allows 50 calls a second, so it always has a backlog. After an interruption some calls are needed for
	// each channel.
	plan.Threads, plan.Backlog = 100, 300
	book = ledger.New(e.events)
	other, err := discord.Start(book, plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	e.platforms = append(e.platforms, &enduring{Platform: other, name: "Discord", book: book, chunk: 50})
	e.env = []string{
		"GATEHOUSE_DATABASE_URL=sqlite:" + e.file, "GATEHOUSE_LISTEN=127.0.0.1:" + port, "GATEHOUSE_AGENT=echo",
		"GATEHOUSE_RATE=0", "SLACK_CHANNEL_RPS=0",
		"DISCORD_REPLY=channel", "GATEHOUSE_LOG_LEVEL=warn", "GATEHOUSE_LOG_FORMAT=json",
	}
	for _, p := range e.platforms {
		e.env = append(e.env, p.Env(port)...)
	}
	return e
}

// logFile is what gatehouse prints, in all its processes.
func (e *endurance) logFile() string { return filepath.Join(e.dir, "log") }

// start starts gatehouse, and waits until it is ready.
func (e *endurance) start() {
	e.t.Helper()
	l, started := &life{slow: len(e.lives)%slowEach == 1 && e.progress() < aloneFrom}, time.Now()
	delay := time.Duration(0)
	if l.slow {
		delay = enduranceDelay
	}
	var err error
	if e.child, err = process.Start([]string{e.program, "serve"},
		append([]string{"GATEHOUSE_ECHO_DELAY=" + delay.String()}, e.env...), e.logFile()); err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(e.child.Kill)
	for !e.ready() {
		select {
		case <-e.ctx.Done():
			e.t.Fatalf("gatehouse is not ready: %v\n%s", e.ctx.Err(), e.child.Tail())
		case <-e.child.Done():
			e.t.Fatalf("gatehouse has ended:\n%s", e.child.Tail())
		case <-time.After(10 * time.Millisecond):
		}
	}
	l.began = time.Now()
	l.ready = l.began.Sub(started)
	if e.began.IsZero() {
		e.began = l.began
	}
	e.lives = append(e.lives, l)
}

func (e *endurance) ready() bool {
	request, err := http.NewRequestWithContext(e.ctx, http.MethodGet, e.address+"/readyz", nil)
	if err != nil {
		e.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// progress is the part of the time that is over, or of the events that are sent, whichever is larger.
func (e *endurance) progress() float64 {
	return max(float64(time.Since(e.began))/float64(e.time), float64(e.taken.Load())/float64(e.events))
}

// send sends events over all platforms, until the time is over or all are sent. What it returns is closed then, after
// an error if there was one.
func (e *endurance) send() <-chan error {
	var work sync.WaitGroup
	failed := make(chan error, len(e.platforms))
	for _, p := range e.platforms {
		work.Go(func() {
			for time.Since(e.began) < e.time && e.taken.Add(int64(p.chunk)) <= int64(e.events) {
				if err := p.Send(e.ctx, p.sent, p.sent+p.chunk, func(int) {}); err != nil {
					failed <- err
					return
				}
				p.sent += p.chunk
			}
		})
	}
	go func() {
		work.Wait()
		close(failed)
	}()
	return failed
}

// live watches the process until its time is over, or until all events are sent: then it returns false.
func (e *endurance) live(over <-chan time.Time, sending <-chan error) (more bool) {
	e.t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	l := e.lives[len(e.lives)-1]
	for {
		select {
		case <-tick.C:
			l.samples = append(l.samples, e.sample(l))
			continue
		case <-e.child.Done():
			e.t.Fatalf("gatehouse has ended:\n%s", e.child.Tail())
		case err := <-sending:
			if err != nil {
				e.t.Fatalf("sending: %v", err)
			}
		case <-over:
			more = true
		}
		l.stored = e.stored()
		e.report(l)
		return more
	}
}

func (e *endurance) sample(l *life) sample {
	e.t.Helper()
	held, err := e.child.Held()
	if err != nil {
		e.t.Fatalf("gatehouse: %v\n%s", err, e.child.Tail())
	}
	s := sample{age: time.Since(l.began), replied: e.replied(), Held: held}
	info, err := os.Stat(e.file + "-wal")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		e.t.Fatal(err)
	}
	if err == nil {
		s.log = info.Size()
	}
	return s
}

// replied is how many events have a reply.
func (e *endurance) replied() (n int) {
	for _, p := range e.platforms {
		n += p.book.Replied()
	}
	return n
}

// waiting is how many events have no reply.
func (e *endurance) waiting() (n int) {
	for _, p := range e.platforms {
		n += p.book.Waiting()
	}
	return n
}

// await waits until each event has a reply and nothing is left to be posted, as long as replies come.
func (e *endurance) await() {
	e.t.Helper()
	since, last := time.Now(), e.waiting()
	for {
		now := e.waiting()
		if now == 0 {
			if idle, err := nothingQueued(e.ctx, e.program, e.env); err != nil {
				e.t.Fatal(err)
			} else if idle {
				return
			}
		}
		if now != last {
			since, last = time.Now(), now
		}
		if time.Since(since) > patience {
			e.t.Errorf("%d events have no reply, and for %s nothing has changed\n%s", now, patience, e.child.Tail())
			return
		}
		select {
		case <-time.After(quietTime):
		case <-e.child.Done():
			e.t.Fatalf("gatehouse has ended:\n%s", e.child.Tail())
		case <-e.ctx.Done():
			e.t.Fatalf("%d events have no reply: %v", now, e.ctx.Err())
		}
	}
}

// quietTime is how often is asked whether all is done.
const quietTime = 300 * time.Millisecond
