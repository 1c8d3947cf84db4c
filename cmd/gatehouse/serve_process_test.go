package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// serveProcess is a real gatehouse serve process. It can be killed and started again at the same address.
type serveProcess struct {
	*workbench
	at  string // http://HOST:PORT
	app *child
}

// newServeProcess reserves the address; open starts the process. Heartbeats are short, so that those of a killed
// process soon expire.
func newServeProcess(t *testing.T, e engine, env ...string) *serveProcess {
	t.Helper()
	address := freeAddress(t)
	l := &serveProcess{
		workbench: e.workbench(t,
			append([]string{"GATEHOUSE_LISTEN=" + address, "GATEHOUSE_LOG_FORMAT=json", "GATEHOUSE_LEASE=1s"},
				env...)...), at: "http://" + address,
	}
	t.Cleanup(func() {
		if t.Failed() && l.app != nil {
			t.Logf("the output of the process that was started last:\n%s", l.app.out)
		}
	})
	return l
}

// freeAddress reserves an address until the test ends: it listens on the port above it as a mark for other tests. Both
// ports are below the range that the system assigns by itself.
func freeAddress(t *testing.T) string {
	t.Helper()
	const lowest, pairs = 20_000, 6_000
	for range 100 {
		port := lowest + 2*rand.IntN(pairs)
		mark, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
		if err != nil {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			t.Cleanup(func() { mark.Close() })
			return address
		}
		mark.Close()
	}
	t.Fatal("no port is free")
	return ""
}

// waitUp waits until the process answers over HTTP.
func (l *serveProcess) waitUp(ctx context.Context) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if answer, err := http.Get(l.at + "/healthz"); err == nil {
			answer.Body.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// open starts the process and waits until it listens or has killed itself.
func (l *serveProcess) open(env ...string) {
	l.t.Helper()
	app := l.start(env, "serve")
	l.app = app
	up, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() {
		select {
		case <-app.done:
			cancel()
		case <-up.Done():
		}
	}()
	l.waitUp(up)
}

// untilRestarting waits until a condition holds, and starts the process again if it has killed itself.
func (l *serveProcess) untilRestarting(what string, holds func() bool) {
	l.t.Helper()
	restarted := false
	l.until(what, l.app, func() bool {
		if l.app.gone() && !restarted {
			restarted = true
			l.open()
		}
		return holds()
	})
}

// posted reports whether everything was delivered.
func (l *serveProcess) posted() bool {
	rows, err := l.store.ListPosts(l.t.Context(), []core.RowState{core.RowWaiting}, "", 1)
	return err == nil && len(rows) == 0
}

// passes reads the recorded points, and returns the passes at which to kill the process: the first, the middle and the
// last one; if the tests are not wide, the first one of each of these methods.
func passes(t *testing.T, record string, methods ...string) map[string][]int {
	t.Helper()
	few := len(methods) > 0 && wide(false, true)
	text, err := os.ReadFile(record)
	noErr(t, err)
	counts := map[string]int{}
	for _, point := range strings.Fields(string(text)) {
		counts[point]++
	}
	nths := map[string][]int{}
	for point, n := range counts {
		name, _, _ := strings.Cut(point, ".")
		switch {
		case few && !slices.Contains(methods, name):
			continue
		case few:
			n = 1
		case polled(name):
			n = min(n, 2)
		}
		nths[point] = slices.Compact([]int{1, (n + 1) / 2, n})
	}
	return nths
}

// adapterActs are the methods of the store around which an adapter does something at its platform, or answers it.
var adapterActs = []string{"Accept", "AcceptClaim", "Finish", "SavePost", "ReleasePost"}

// polled reports whether the points of a method are passed all the time, also while nothing happens.
func polled(name string) bool {
	return slices.Contains(
		[]string{
			"Claim", "ClaimPosts", "ClaimTasks", "LoadIntent", "StopRequested", "Holds", "Beat", "Health", "Overdue",
		}, name)
}
