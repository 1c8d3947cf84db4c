package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// cpu returns the processor time that a process has used so far.
func (c *child) cpu(t *testing.T) time.Duration {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	// the first one is the state, the third of the file
	fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
	var ticks int
	for _, field := range fields[11:13] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // Linux counts in hundredths of a second
}

// metric asks /metrics for a number.
func (p *slackProcess) metric(name string) int {
	p.workbench.t.Helper()
	answer, err := http.Get(p.at + "/metrics")
	if err != nil {
		p.workbench.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		p.workbench.t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+name+" ")
	value, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || !found {
		p.workbench.t.Fatalf("/metrics has no number %s:\n%s", name, text)
	}
	return int(n)
}

// saysAll posts a message in each of so many new threads before any of their turns begins.
func (p *slackProcess) saysAll(turns int) []*thread {
	t := p.workbench.t
	t.Helper()
	if err := p.store.SetPaused(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	all := p.sendAll(p.addChannels(20), turns, 1, func(int) {})
	if err := p.slack.WaitDelivered(p.ctx()); err != nil {
		t.Fatal(err)
	}
	if err := p.store.SetPaused(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMoreTurnsThanWorkers: as many run as there are workers, and no more; meanwhile control words are answered, and
// /metrics and doctor say that workers are missing. In the end each message is answered once.
func TestMoreTurnsThanWorkers(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		const turns, workers = 60, 40
		p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo",
			"GATEHOUSE_ECHO_DELAY="+wide("40s", "15s"), fmt.Sprintf("GATEHOUSE_WORKERS=%d", workers),
			"GATEHOUSE_RATE=0")
		p.open()
		all := p.saysAll(turns)
		begun := func() (n int) { // a place may be taken before there is a turn for it
			for _, e := range p.events(core.EventFilter{Waiting: true}) {
				n += min(e.Attempt, 1)
			}
			return n
		}
		p.until("all workers", p.app, func() bool { return p.metric(metricRunning) == workers && begun() == workers })
		var running *thread // one of those that run: which ones do is the store's business
		for _, e := range p.events(core.EventFilter{Waiting: true}) {
			if i := slices.IndexFunc(all, func(t *thread) bool {
				return t.ts == e.Address.Thread
			}); e.Attempt > 0 && i >= 0 {
				running = all[i]
			}
		}
		if running == nil {
			t.Fatal("no turn runs")
		}
		p.ann.Posts(running.channel, p.slack.MentionOfBot()+" !status", slacktest.InThread(running.ts))
		p.reads(running.channel, running.ts, "I am working on a message.")
		p.ann.Posts(running.channel, p.slack.MentionOfBot()+" !stop", slacktest.InThread(running.ts))
		p.reads(running.channel, running.ts, "Stopped.")
		p.until("another one in its place", p.app, func() bool {
			return p.metric(metricRunning) == workers && p.metric(metricWaiting) == turns-workers-1
		})
		c := p.serveProcess.start(nil, "doctor", "--quick")
		c.quit(t)
		if out := c.out.String(); !strings.Contains(out, "Turns that run: 40 of 40") ||
			!strings.Contains(out, "Raise GATEHOUSE_WORKERS") {
			t.Errorf("doctor prints\n%s", out)
		}
		if n, limit := p.metric(metricMemory), p.metric(metricMemoryLimit); n < workers*64<<10 ||
			limit != 256*mebibyte {
			t.Errorf("the turns hold %d bytes of %d", n, limit)
		}
		most := 0
		p.until("all ends", p.app, func() bool {
			most = max(most, p.metric(metricRunning))
			return p.settled()
		})
		if most != workers {
			t.Errorf("%d turns ran at the same time, want %d", most, workers)
		}
		running.said = nil
		p.checkReplies(all)
	})
}

// TestManyTurnsWait measures what turns cost that wait 30 seconds: memory, processor time, and how late their answers
// are. GATEHOUSE_MANY_TURNS says how many; without it nothing is measured.
func TestManyTurnsWait(t *testing.T) {
	turns, _ := strconv.Atoi(os.Getenv("GATEHOUSE_MANY_TURNS"))
	if turns == 0 {
		turns = 20
	}
	onEachEngine(t, func(t *testing.T, e engine) {
		delay := 30 * time.Second
		if turns < 100 {
			delay = time.Second
		}
		p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY="+delay.String(),
			fmt.Sprintf("GATEHOUSE_WORKERS=%d", turns+500), "GATEHOUSE_RATE=0", "GATEHOUSE_LEASE=5s")
		if turns > 100 {
			p.released()
		}
		p.open()
		idle, _ := p.app.memory(t)
		all := p.saysAll(turns)
		began, used := time.Now(), p.app.cpu(t)
		ticks := time.NewTicker(time.Second)
		defer ticks.Stop()
		for ended := 0; ended < turns || p.slack.CountFromBot() < turns; {
			<-ticks.C
			now, highest := p.app.memory(t)
			cpu := p.app.cpu(t)
			ended = len(p.events(core.EventFilter{Ends: []core.EndKind{core.EndReplied}}))
			t.Logf("after %s: %d ended, %d answers read, %d ms CPU, %d MiB, %d at most",
				time.Since(began).Round(10*time.Millisecond), ended, p.slack.CountFromBot(),
				(cpu - used).Milliseconds(), now/mebibyte, highest/mebibyte)
			used = cpu
			if time.Since(began) > delay+2*patience {
				t.Fatalf("%d of %d turns have ended", ended, turns)
			}
		}
		_, highest := p.app.memory(t)
		t.Logf("%d MiB without turns, %d MiB at most", idle/mebibyte, highest/mebibyte)
		p.checkReplies(all)
	})
}
