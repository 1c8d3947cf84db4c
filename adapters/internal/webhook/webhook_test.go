package webhook_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/internal/webhook"
	"gatehouse/core/inflight"
)

// patience is how long a test waits for what should happen at once.
const patience = 2 * time.Minute

// endpoint is a server with one Reader. The right signature of a body is "sum " and its length.
type endpoint struct {
	t      *testing.T
	reader *webhook.Reader
	server *httptest.Server
	bodies chan string // those that were verified
	memory *inflight.Budget

	mu     sync.Mutex
	now    time.Time
	signed []time.Duration
	log    bytes.Buffer
}

func serve(t *testing.T) *endpoint {
	e := &endpoint{t: t, bodies: make(chan string, 100), now: time.Unix(1_800_000_000, 0)}
	e.reader = webhook.NewReader(webhook.Options{
		Signature: "X-Sum", Time: "X-Time", Now: e.clock, Log: slog.New(slog.NewTextHandler(e, nil)),
		Verifier: sums{}, Clock: e,
	})
	e.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hold := e.memory.Hold(inflight.Strangers, "a peer")
		defer hold.Release()
		if body, ok := e.reader.Read(w, r.WithContext(inflight.With(r.Context(), hold)), "application/json"); ok {
			e.bodies <- string(body)
		}
	}))
	t.Cleanup(e.server.Close)
	return e
}

func (e *endpoint) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

func (e *endpoint) pass(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

// Write takes a line of the log.
func (e *endpoint) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.log.Write(p)
}

// Signed notes how long ago a request was signed.
func (e *endpoint) Signed(ago time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.signed = append(e.signed, ago)
}

// lines returns the log.
func (e *endpoint) lines() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.FieldsFunc(e.log.String(), func(r rune) bool { return r == '\n' })
}

// open sends the head of a request whose other headers are good, and the beginning of its body.
func (e *endpoint) open(body string, headers ...string) net.Conn {
	e.t.Helper()
	connection, err := net.Dial("tcp", e.server.Listener.Addr().String())
	if err != nil {
		e.t.Fatal(err)
	}
	e.t.Cleanup(func() { connection.Close() })
	_ = connection.SetDeadline(time.Now().Add(patience))
	all := map[string]string{
		"Host": "gatehouse", "X-Sum": "sum 100", "X-Time": fmt.Sprint(e.clock().Unix()),
		"Content-Type": "application/json", "Content-Length": "100",
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		all[name] = value
	}
	head := "POST / HTTP/1.1\r\n"
	for name, value := range all {
		if value != "" {
			head += name + ": " + value + "\r\n"
		}
	}
	if _, err := io.WriteString(connection, head+"\r\n"+body); err != nil {
		e.t.Fatal(err)
	}
	return connection
}

// answer reads the status on a connection, and whether the server closes it.
func (e *endpoint) answer(connection net.Conn) (status int, closes bool) {
	e.t.Helper()
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		e.t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode, answer.Close
}

func TestHeadersAreCheckedBeforeTheBodyArrives(t *testing.T) {
	e := serve(t)
	for name, c := range map[string]struct {
		header string
		want   int
	}{
		"no signature":        {"X-Sum: ", 401},
		"no time":             {"X-Time: ", 401},
		"no number":           {"X-Time: noon", 401},
		"no content type":     {"Content-Type: ", 415},
		"another type":        {"Content-Type: text/plain", 415},
		"announced too large": {"Content-Length: " + strconv.Itoa(webhook.MaxBody+1), 413},
	} {
		if status, closes := e.answer(e.open("", c.header)); status != c.want || !closes {
			t.Errorf("%s: answered %d, closed %v", name, status, closes)
		}
	}
	if len(e.bodies) != 0 {
		t.Error("a request was accepted")
	}
}

// TestTheSignatureIsCheckedBeforeTheAge: only what the platform signed says anything of the clock.
func TestTheSignatureIsCheckedBeforeTheAge(t *testing.T) {
	e := serve(t)
	for _, c := range []struct {
		sum    string
		ago    time.Duration
		status int
		clock  bool // it hears of the request
	}{
		{"sum 4", 0, 200, true},
		{"sum 4", webhook.Window, 200, true},
		{"sum 4", webhook.Window + time.Second, 401, true},
		{"sum 4", -webhook.Window - time.Second, 401, true},
		{"sum 5", webhook.Window + time.Second, 401, false},
		{"sum 5", 0, 401, false},
	} {
		e.signed = nil
		status, _ := e.answer(e.open("body", "Content-Length: 4", "X-Sum: "+c.sum,
			"X-Time: "+fmt.Sprint(e.clock().Add(-c.ago).Unix())))
		if status != c.status || slices.Contains(e.signed, c.ago) != c.clock {
			t.Errorf("%q, signed %s ago: answered %d; the clock heard %v", c.sum, c.ago, status, e.signed)
		}
	}
}

func TestBodiesAreReadUpToTheirLimitAndVerified(t *testing.T) {
	e := serve(t)
	post := func(body io.Reader, size int) int {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.server.URL, body)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("X-Sum", fmt.Sprint("sum ", size))
		q.Header.Set("X-Time", fmt.Sprint(e.clock().Unix()))
		q.Header.Set("Content-Type", "application/json; charset=utf-8")
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	for _, size := range []int{0, 1, 5000, webhook.MaxBody} {
		text := strings.Repeat("x", size)
		// of a known and an unknown length
		for _, body := range []io.Reader{strings.NewReader(text), io.MultiReader(strings.NewReader(text))} {
			if status := post(body, size); status != 200 || <-e.bodies != text {
				t.Errorf("%d bytes: answered %d, or another body", size, status)
			}
		}
	}
	long := strings.Repeat("x", webhook.MaxBody+1)
	if status := post(io.MultiReader(strings.NewReader(long)), len(long)); status != 413 {
		t.Errorf("a long body of unknown length: answered %d", status)
	}
	if status := post(strings.NewReader("body"), 5); status != 401 {
		t.Errorf("a wrong signature: answered %d", status)
	}
}

func TestABodyThatStallsIsAnswered408AndOneThatEndsEarly400(t *testing.T) {
	e := serve(t)
	half := e.open("{")
	_ = half.(*net.TCPConn).CloseWrite()
	if status, _ := e.answer(half); status != 400 {
		t.Errorf("half a body: answered %d", status)
	}
	e.reader.SetBodyTime(10 * time.Millisecond)
	if status, _ := e.answer(e.open("{")); status != 408 {
		t.Errorf("a slow body: answered %d", status)
	}
	if _, err := io.ReadAll(half); err != nil {
		t.Errorf("the connection was not closed: %v", err)
	}
}

// TestStalledBodiesLeaveRoomForOthers: whoever opens requests whose bodies don't come keeps nobody out, however large
// they are; the oldest are cut, and told so at once.
func TestStalledBodiesLeaveRoomForOthers(t *testing.T) {
	for name, length := range map[string]string{
		"small": "Content-Length: 16384", "large": "Content-Length: 1048576",
		"of unknown length": "Transfer-Encoding: chunked",
	} {
		t.Run(name, func(t *testing.T) {
			e := serve(t)
			e.memory = inflight.New(4 << 20)
			var stalled []net.Conn
			for range 200 {
				headers := []string{length}
				if !strings.HasPrefix(length, "Content-Length") {
					headers = append(headers, "Content-Length: ")
				}
				stalled = append(stalled, e.open("", headers...))
			}
			cut := 0
			for _, c := range stalled[20:150] { // the first small ones hold nothing of what is kept
				if status, closes := e.answer(c); status == 503 && closes {
					cut++
				}
			}
			if cut < 100 { // there is room for less than 50 of any size
				t.Errorf("%d of 130 are cut", cut)
			}
			for _, size := range []int{1, 16 << 10, 16<<10 + 1, 64 << 10} {
				body := strings.Repeat("x", size)
				head := []string{"Content-Length: " + strconv.Itoa(size), "X-Sum: sum " + strconv.Itoa(size)}
				status := 503
				for try := 0; status == 503 && try < 5; try++ { // the last of the others may have cut it
					status, _ = e.answer(e.open(body, head...))
				}
				if status != 200 || <-e.bodies != body {
					t.Errorf("a whole body of %d bytes is answered %d", size, status)
				}
			}
			if held := e.memory.Held(); held > 4<<20 {
				t.Errorf("%d bytes are held", held)
			}
		})
	}
}

func TestRefusalsAreLoggedOnceASecond(t *testing.T) {
	e := serve(t)
	for range 50 {
		e.answer(e.open("", "X-Sum: "))
	}
	if lines := e.lines(); len(lines) != 1 || !strings.Contains(lines[0], "the request has no signature") ||
		strings.Contains(lines[0], "not_logged") {
		t.Errorf("the log: %q", lines)
	}
	e.pass(time.Second)
	e.answer(e.open("", "X-Time: "))
	if lines := e.lines(); len(lines) != 2 || !strings.Contains(lines[1], "not_logged=49") {
		t.Errorf("the log: %q", lines)
	}
	e.pass(time.Second)
	e.answer(e.open("", "X-Time: "))
	if lines := e.lines(); len(lines) != 3 || strings.Contains(lines[2], "not_logged") {
		t.Errorf("the log: %q", lines)
	}
}

// sums signs a body with its length.
type sums struct{}

func (sums) Valid(h http.Header, body []byte) bool {
	return h.Get("X-Sum") == fmt.Sprint("sum ", len(body))
}
