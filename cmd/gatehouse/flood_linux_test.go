package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// flood is gatehouse, on which a process of the lowest priority sends what would use up its memory, while a neighbour
// goes on.
type flood struct {
	t *testing.T
	*slackProcess
	most time.Duration // for what must happen within a second; more where other tests use the processors
}

const (
	floodToken = "token-of-flood-0123456789"
	mostMemory = 512 * mebibyte
)

// runs has a flooder send a part of the attacks. After each it checks what has become of gatehouse. How long a refusal
// takes is measured here with single requests of the same kind from the flooder's address.
func (f *flood) runs(part string) {
	f.t.Helper()
	program, err := os.Executable()
	noErr(f.t, err)
	link := filepath.Join(f.t.TempDir(), flooderName)
	noErr(f.t, os.Symlink(program, link))
	c := exec.CommandContext(f.t.Context(), "nice", "-n", "19", link)
	c.Env = append(os.Environ(), floodAtKey+"="+f.at, floodPartKey+"="+part)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	noErr(f.t, err)
	out, err := c.StdoutPipe()
	noErr(f.t, err)
	noErr(f.t, c.Start())
	defer func() {
		in.Close()
		_ = c.Wait()
	}()
	lines := bufio.NewReader(out)
	for i, one := range attacks(part) {
		if line, err := lines.ReadString('\n'); line != fmt.Sprintf("begin %d\n", i) {
			f.t.Fatalf("the flooder said %q, %v", line, err)
		}
		slowest := f.probes(one)
		line, err := lines.ReadString('\n')
		took := slowest()
		counts := map[int]int{}
		_, told, _ := strings.Cut(line, fmt.Sprintf("end %d ", i))
		if err != nil || json.Unmarshal([]byte(told), &counts) != nil {
			f.t.Fatalf("%s: the flooder said %q, %v", one.name, line, err)
		}
		f.check(one.name, counts, took)
		_, err = fmt.Fprintln(in)
		noErr(f.t, err)
	}
}

// probes sends a request of an attack again and again until slowest is called, which returns how long a refusal of it
// took at most. A connection that sends no whole request is not refused when it is closed: it makes room for another.
func (f *flood) probes(one attack) (slowest func() time.Duration) {
	request := one.requests()[0]
	ctx, cancel := context.WithCancel(f.t.Context())
	var most time.Duration
	var done sync.WaitGroup
	done.Go(func() {
		pause := time.NewTicker(200 * time.Millisecond)
		defer pause.Stop()
		for ctx.Err() == nil {
			a := sendFlood(f.at, request, min(2*f.most, 5*time.Second))
			if a.refused() && (a.status > 0 || one.stalls == 0) { // else it waits for its time
				most = max(most, a.took)
			}
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
		}
	})
	return func() time.Duration {
		cancel()
		done.Wait()
		return most
	}
}

// check fails if the process has died, has used too much memory, or answered a refusal late.
func (f *flood) check(name string, counts map[int]int, slowest time.Duration) {
	f.t.Helper()
	select {
	case <-f.app.done:
		f.t.Fatalf("%s: the process has ended (%v)", name, counts)
	default:
	}
	now, highest := f.app.memory(f.t)
	f.t.Logf("%s: answers %v, the slowest refusal after %s; memory %d MiB, at most %d MiB", name, counts,
		slowest.Round(time.Millisecond), now/mebibyte, highest/mebibyte)
	if highest > mostMemory {
		f.t.Errorf("%s: the memory rose to %d MiB", name, highest/mebibyte)
	}
	if slowest > f.most {
		f.t.Errorf("%s: a refusal came after %s", name, slowest)
	}
	for status := range counts {
		if status == http.StatusInternalServerError {
			f.t.Errorf("%s: the answers are %v", name, counts)
		}
	}
}

// neighbour says hello, presses a button and asks for the health, again and again, until the test stops it. slowest is
// how long one of these took at most.
func (f *flood) neighbour() (stop func() (slowest time.Duration, times int)) {
	ask := f.bob.Posts("C1", f.slack.MentionOfBot()+" note add milk")
	card := f.card("C1", ask.TS, "Add “milk” to the note book.")
	ctx, cancel := context.WithCancel(f.t.Context())
	var slowest atomic.Int64
	var times int
	var done sync.WaitGroup
	measure := func(what string, do func() error) {
		began := time.Now()
		err := do()
		if ctx.Err() != nil {
			return
		}
		took := time.Since(began)
		if err != nil || took > f.most {
			f.t.Errorf("a neighbour's %s took %s: %v", what, took, err)
		}
		slowest.Store(max(slowest.Load(), int64(took)))
	}
	done.Go(func() {
		for ; ctx.Err() == nil; times++ {
			measure("message", func() error {
				said := f.ann.Posts("C1", f.slack.MentionOfBot()+" hello")
				_, err := f.slack.WaitForText(ctx, "C1", said.TS, "Hello!")
				return err
			})
			measure("click", func() error { return f.eve.Clicks("C1", card.TS, "approve").Wait(ctx) })
			measure("/healthz", func() error {
				r, err := http.Get(f.at + "/healthz")
				if err == nil {
					r.Body.Close()
				}
				return err
			})
			pause := time.NewTimer(100 * time.Millisecond)
			<-pause.C
		}
	})
	return func() (time.Duration, int) {
		cancel()
		done.Wait()
		return time.Duration(slowest.Load()), times
	}
}

// TestFloodsFromOutsideEndNothing tries to use up the memory of a process that may have 512 MiB, without a token and
// with one. It goes on, refuses at once what it has no room for, and a neighbour notices nothing.
func TestFloodsFromOutsideEndNothing(t *testing.T) {
	f := &flood{t: t, most: wide(time.Second, 10*time.Second)}
	f.slackProcess = newSlackProcess(t, "GATEHOUSE_AGENT=demo", "GATEHOUSE_TURN_MEMORY=256MiB",
		"GATEHOUSE_TOKENS=flood="+floodToken+",other!=token-of-another-0123456789")
	f.released()
	f.open()
	stop := f.neighbour()
	f.runs("")
	slowest, n := stop()
	t.Logf("a neighbour has said, pressed and asked %d times; the slowest of it took %s", n, slowest)
	for i := range 3 { // what was stored of it ends no process that starts with it
		f.app.kill()
		f.open()
		f.ann.Says(fmt.Sprintf("calc %d+22", i))
		f.reads(f.dm, "", fmt.Sprintf("%d+22 = %d", i, i+22))
		f.check("a restart", nil, 0)
	}
	f.app.kill()
	f.open("GATEHOUSE_AGENT=echo")
	f.runs("answered")
	f.ann.Says("the end")
	f.reads(f.dm, "", "echo: the end")
}
