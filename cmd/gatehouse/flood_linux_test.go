package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// flood sends what would use up the memory of a process, from an address of its own, while a neighbour goes on.
type flood struct {
	t *testing.T
	*slackProcess
	most time.Duration // for what must happen within a second; more where other tests use the processors
}

const (
	floodToken = "token-of-flood-0123456789"
	mostMemory = 512 * mebibyte
)

// dial opens a connection from another address of this machine.
func (f *flood) dial() (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: patience}
	return d.Dial("tcp", strings.TrimPrefix(f.at, "http://"))
}

// answer is what became of a request: the status, 0 if its connection was closed, and how long that took.
type answer struct {
	status int
	took   time.Duration
}

// send writes a whole request, and reads the head of its answer.
func (f *flood) send(request string) (a answer) {
	began := time.Now()
	defer func() { a.took = time.Since(began) }()
	c, err := f.dial()
	if err != nil {
		return a
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	go func() { _, _ = io.WriteString(c, request) }() // of a refused one only a part is taken
	line, _ := bufio.NewReader(c).ReadString('\n')
	_, _ = fmt.Sscanf(line, "HTTP/1.1 %d", &a.status)
	return a
}

// all sends requests at the same time.
func (f *flood) all(name string, requests []string) {
	f.t.Helper()
	counts, slowest := map[int]int{}, time.Duration(0)
	var mu sync.Mutex
	var sent sync.WaitGroup
	for _, request := range requests {
		sent.Go(func() {
			a := f.send(request)
			mu.Lock()
			defer mu.Unlock()
			counts[a.status]++
			if a.status == 0 || a.status == http.StatusTooManyRequests || a.status >= 500 {
				slowest = max(slowest, a.took)
			}
		})
	}
	sent.Wait()
	f.check(name, counts, slowest)
}

// stalls opens connections that each send this and then nothing more.
func (f *flood) stalls(name string, n int, begun string) {
	f.t.Helper()
	counts := map[int]int{}
	var mu sync.Mutex
	var open sync.WaitGroup
	var all []net.Conn
	places := make(chan struct{}, 200) // of connections that are opened at a time
	for range n {
		places <- struct{}{}
		open.Go(func() {
			defer func() { <-places }()
			c, err := f.dial()
			if err != nil {
				return
			}
			mu.Lock()
			all = append(all, c)
			mu.Unlock()
			_ = c.SetWriteDeadline(time.Now().Add(time.Second))
			_, _ = io.WriteString(c, begun)
		})
	}
	open.Wait()
	for _, c := range all { // what is not refused by now waits for its time
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		line, err := bufio.NewReader(c).ReadString('\n')
		status := 0
		if _, scanned := fmt.Sscanf(line, "HTTP/1.1 %d", &status); scanned != nil && err != nil &&
			strings.Contains(err.Error(), "timeout") {
			status = -1
		}
		counts[status]++
	}
	f.check(name, counts, 0)
	for _, c := range all {
		c.Close()
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

// postOf is a POST; each header is "Name: value".
func postOf(path, body string, headers ...string) string {
	head := "POST " + path + " HTTP/1.1\r\nHost: gatehouse\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	return head + "\r\n" + body
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

	times := wide(10, 1)
	many := func(n int, request string) []string { return slices.Repeat([]string{request}, n*times) }
	const asJSON, asForm = "Content-Type: application/json", "Content-Type: application/x-www-form-urlencoded"
	const bearer = "Authorization: Bearer " + floodToken
	post := func(path, body string) string { return postOf(path, body, asJSON, bearer, "Prefer: wait=0") }
	empties := func(bytes int) string { return "[" + strings.Repeat("{},", bytes/3) + "{}]" }
	value := func(v any) string { text, _ := json.Marshal(v); return string(text) } // texts: can't fail
	cut := func(request string) string { return request[:len(request)-1] }
	message := func(id int, text string) string {
		return post("/v1/openharness", fmt.Sprintf(
			`{"protocol_version":"1.0.0","request":{"context":{"session_id":"s%d","user_intent":%s}}}`, id,
			value(text)))
	}
	messages := func(n int, text string) (all []string) {
		for i := range n * times {
			all = append(all, message(i, text))
		}
		return all
	}
	login := "token=" + strings.Repeat("x", 64<<10-10)
	connections := wide(18_000, 2000)

	// without a token
	f.stalls("connections that send nothing", connections, "")
	f.stalls("large heads that don't end", connections, "GET / HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x", 15<<10))
	f.stalls("login forms that don't end", connections, cut(postOf("/login", login, asForm)))
	f.all("login forms", many(400, postOf("/login", login, asForm)))
	f.all("login forms of many fields", many(400, postOf("/login", strings.Repeat("a&", 32<<10-1), asForm)))
	now := "X-Slack-Request-Timestamp: " + fmt.Sprint(time.Now().Unix())
	for path, kind := range map[string]string{"/slack/events": asJSON, "/slack/interactions": asForm} {
		for _, size := range []int{16 << 10, mebibyte} {
			unsigned := postOf(path, strings.Repeat("x", size), kind, now, "X-Slack-Signature: v0=00")
			f.stalls(fmt.Sprintf("%s, unsigned, %d bytes that don't end", path, size), connections/4, cut(unsigned))
			f.all(fmt.Sprintf("%s, unsigned, %d bytes", path, size), many(100, unsigned))
		}
	}

	// with one
	trees := `{"action":"deploy","summary":"s","arguments":{"a":` + empties(500_000) + `}}`
	f.all("approvals with many values", many(24, post("/v1/approvals", trees)))
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"name":"request_approval","arguments":` + trees + `}}`
	accepts := "Accept: application/json, text/event-stream"
	f.all("calls over MCP", many(16, postOf("/mcp", call, asJSON, bearer, accepts)))
	one := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	batch := "[" + strings.Repeat(one+",", 7999) + one + "]"
	f.all("batches over MCP", many(1, postOf("/mcp", batch, asJSON, bearer, accepts)))
	f.all("arguments in messages", messages(8, `call note.add {"text":`+empties(1_000_000)+`}`))
	f.all("arguments of few values", messages(8, `call note.add {"text":"`+strings.Repeat("x", 900_000)+`"}`))
	f.all("long messages", messages(60, strings.Repeat("long ", 200_000)))
	f.all("all mail at once", many(4, message(0, "hello")))
	f.all("uploads", many(16, postOf("/v1/openharness/attachments", strings.Repeat("x", 5*mebibyte), bearer)))
	f.stalls("streams", 100*times, "GET /v1/openharness/events?session=s0 HTTP/1.1\r\nHost: x\r\n"+bearer+"\r\n\r\n")
	f.stalls("pages", 100*times, "GET /approvals HTTP/1.1\r\nHost: x\r\n"+bearer+"\r\n\r\n")

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
	f.all("long messages that are answered at length", messages(60, strings.Repeat("echo ", 200_000)))
	f.all("all mail at once", many(4, message(1, "hello")))
	f.ann.Says("the end")
	f.reads(f.dm, "", "echo: the end")
}
