package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// flooderName is the name under which the tests' binary is who floods: a process of its own, so that what it does takes
// neither memory nor processors from those whom it must not disturb.
const flooderName = "flooder"

// The environment of a flooder.
const (
	floodAtKey   = "TEST_FLOOD_AT"   // the URL of gatehouse
	floodPartKey = "TEST_FLOOD_PART" // "answered" = what is answered at length
)

func init() { programs[flooderName] = flooder }

// attack is what is sent at the same time, from an address of its own.
type attack struct {
	name     string
	stalls   int // how often the first request is begun, not to be ended; 0: all are sent whole
	requests func() []string
}

// answer is what became of a request: the status, 0 if its connection was closed, -1 if it still waits, and how long
// that took.
type answer struct {
	status int
	took   time.Duration
}

func (a answer) refused() bool {
	return a.status == 0 || a.status == http.StatusTooManyRequests || a.status >= 500
}

// dialFlood opens a connection from another address of this machine. Its port is found as it connects: to look for one
// that no connection at all uses takes the kernel long among thousands, and nobody else gets that processor meanwhile.
func dialFlood(at string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: patience}
	d.Control = func(_, _ string, socket syscall.RawConn) (fault error) {
		err := socket.Control(func(fd uintptr) {
			fault = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
		})
		return errors.Join(err, fault)
	}
	return d.Dial("tcp", strings.TrimPrefix(at, "http://"))
}

// sendFlood writes a request, and reads the head of its answer, for which it waits so long.
func sendFlood(at, request string, within time.Duration) (a answer) {
	began := time.Now()
	defer func() { a.took = time.Since(began) }()
	c, err := dialFlood(at)
	if err != nil {
		return a
	}
	defer c.Close()
	_ = c.SetDeadline(began.Add(within))
	go func() { _, _ = io.WriteString(c, request) }() // of a refused one only a part is taken
	line, err := bufio.NewReader(c).ReadString('\n')
	_, scanned := fmt.Sscanf(line, "HTTP/1.1 %d", &a.status)
	if scanned != nil && err != nil && strings.Contains(err.Error(), "timeout") {
		a.status = -1
	}
	return a
}

// flooder is the process that floods. It prints each attack's name and number before it and its answers after it, and
// goes on once it is told to.
func flooder() {
	at, next := os.Getenv(floodAtKey), bufio.NewReader(os.Stdin)
	for i, one := range attacks(os.Getenv(floodPartKey)) {
		fmt.Printf("begin %d\n", i)
		counts := map[int]int{}
		if one.stalls > 0 {
			stallFlood(at, one, counts, func() { waitForLine(next, i, counts) })
			continue
		}
		var mu sync.Mutex
		var sent sync.WaitGroup
		for _, request := range one.requests() {
			sent.Go(func() {
				a := sendFlood(at, request, patience)
				mu.Lock()
				defer mu.Unlock()
				counts[a.status]++
			})
		}
		sent.Wait()
		waitForLine(next, i, counts)
	}
}

func waitForLine(next *bufio.Reader, i int, counts map[int]int) {
	text, _ := json.Marshal(counts) // of numbers: can't fail
	fmt.Printf("end %d %s\n", i, text)
	if _, err := next.ReadString('\n'); err != nil {
		os.Exit(0) // the test has ended
	}
}

// stallFlood opens connections that each send a part of a request and then nothing more, until done returns.
func stallFlood(at string, one attack, counts map[int]int, done func()) {
	var mu sync.Mutex
	var open sync.WaitGroup
	var all []net.Conn
	places := make(chan struct{}, 200) // of connections that are opened at a time
	begun := one.requests()[0]
	for range one.stalls {
		places <- struct{}{}
		open.Go(func() {
			defer func() { <-places }()
			c, err := dialFlood(at)
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
	done()
	for _, c := range all {
		c.Close()
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

// attacks are those of a part of the test, in order. They try to use up the memory of a process that may have 512 MiB,
// without a token and with one.
func attacks(part string) []attack {
	times := wide(10, 1)
	many := func(n int, request string) func() []string {
		return func() []string { return slices.Repeat([]string{request}, n*times) }
	}
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
	messages := func(n int, text string) func() []string {
		return func() (all []string) {
			for i := range n * times {
				all = append(all, message(i, text))
			}
			return all
		}
	}
	var list []attack
	stalls := func(name string, n int, begun string) {
		list = append(list, attack{name, n, func() []string { return []string{begun} }})
	}
	all := func(name string, requests func() []string) { list = append(list, attack{name, 0, requests}) }
	if part == "answered" {
		all("long messages that are answered at length", messages(60, strings.Repeat("echo ", 200_000)))
		all("all mail at once", many(4, message(1, "hello")))
		return list
	}
	login := "token=" + strings.Repeat("x", 64<<10-10)
	connections := wide(18_000, 2000)

	// without a token
	stalls("connections that send nothing", connections, "")
	stalls("large heads that don't end", connections, "GET / HTTP/1.1\r\nHost: x\r\nX: "+strings.Repeat("x", 15<<10))
	stalls("login forms that don't end", connections, cut(postOf("/login", login, asForm)))
	all("login forms", many(400, postOf("/login", login, asForm)))
	all("login forms of many fields", many(400, postOf("/login", strings.Repeat("a&", 32<<10-1), asForm)))
	now := "X-Slack-Request-Timestamp: " + fmt.Sprint(time.Now().Unix())
	for _, one := range [][2]string{{"/slack/events", asJSON}, {"/slack/interactions", asForm}} {
		path, kind := one[0], one[1]
		for _, size := range []int{16 << 10, mebibyte} {
			unsigned := postOf(path, strings.Repeat("x", size), kind, now, "X-Slack-Signature: v0=00")
			stalls(fmt.Sprintf("%s, unsigned, %d bytes that don't end", path, size), connections/4, cut(unsigned))
			all(fmt.Sprintf("%s, unsigned, %d bytes", path, size), many(100, unsigned))
		}
	}

	// with one
	trees := `{"action":"deploy","summary":"s","arguments":{"a":` + empties(500_000) + `}}`
	all("approvals with many values", many(24, post("/v1/approvals", trees)))
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call",` +
		`"params":{"name":"request_approval","arguments":` + trees + `}}`
	accepts := "Accept: application/json, text/event-stream"
	all("calls over MCP", many(16, postOf("/mcp", call, asJSON, bearer, accepts)))
	one := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	batch := "[" + strings.Repeat(one+",", 7999) + one + "]"
	all("batches over MCP", many(1, postOf("/mcp", batch, asJSON, bearer, accepts)))
	all("arguments in messages", messages(8, `call note.add {"text":`+empties(1_000_000)+`}`))
	all("arguments of few values", messages(8, `call note.add {"text":"`+strings.Repeat("x", 900_000)+`"}`))
	all("long messages", messages(60, strings.Repeat("long ", 200_000)))
	all("all mail at once", many(4, message(0, "hello")))
	all("uploads", many(16, postOf("/v1/openharness/attachments", strings.Repeat("x", 5*mebibyte), bearer)))
	stalls("streams", 100*times, "GET /v1/openharness/events?session=s0 HTTP/1.1\r\nHost: x\r\n"+bearer+"\r\n\r\n")
	stalls("pages", 100*times, "GET /approvals HTTP/1.1\r\nHost: x\r\n"+bearer+"\r\n\r\n")

	return list
}
