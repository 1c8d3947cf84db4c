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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/internal/webhook"
)

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

// endpoint is a server with one Reader. The right signature of a body is "sum " and its length.
type endpoint struct {
	t      *testing.T
	reader *webhook.Reader
	server *httptest.Server
	bodies chan string // those that were verified

	mu  sync.Mutex
	now time.Time
	log bytes.Buffer
}

func serve(t *testing.T) *endpoint {
	e := &endpoint{t: t, bodies: make(chan string, 100), now: time.Unix(1_800_000_000, 0)}
	e.reader = webhook.NewReader(webhook.Options{
		Signature: "X-Sum", Time: "X-Time", Now: e.clock, Log: slog.New(slog.NewTextHandler(e, nil)),
		Valid: func(h http.Header, body []byte) bool { return h.Get("X-Sum") == fmt.Sprint("sum ", len(body)) },
	})
	e.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, ok := e.reader.Read(w, r, "application/json"); ok {
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
	all := map[string]string{"Host": "gatehouse", "X-Sum": "sum 100", "X-Time": fmt.Sprint(e.clock().Unix()), "Content-Type": "application/json", "Content-Length": "100"}
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
	at := func(off time.Duration) string { return "X-Time: " + fmt.Sprint(e.clock().Add(off).Unix()) }
	for name, c := range map[string]struct {
		header string
		want   int
	}{
		"no signature":        {"X-Sum: ", 401},
		"no time":             {"X-Time: ", 401},
		"no number":           {"X-Time: noon", 401},
		"too old":             {at(-webhook.Window - time.Second), 401},
		"from the future":     {at(webhook.Window + time.Second), 401},
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
		for _, body := range []io.Reader{strings.NewReader(text), io.MultiReader(strings.NewReader(text))} { // of a known and an unknown length
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

func TestMoreThan32BodiesAtOnceAreAnswered503(t *testing.T) {
	e := serve(t)
	e.reader.SetBodyTime(patience)
	var stalled []net.Conn
	for range 32 {
		stalled = append(stalled, e.open("{"))
	}
	refused := func() (status int, retryAfter string) { // 0: its body is waited for
		c := e.open("")
		_ = c.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			stalled = append(stalled, c)
			return 0, ""
		}
		_ = answer.Body.Close()
		return answer.StatusCode, answer.Header.Get("Retry-After")
	}
	status, retryAfter := 0, ""
	for end := time.Now().Add(patience); status == 0 && time.Now().Before(end); { // until the stalled ones are being read
		status, retryAfter = refused()
	}
	if status != 503 || retryAfter != "1" {
		t.Fatalf("with 32 bodies being read: answered %d, to be sent again after %q seconds", status, retryAfter)
	}
	for _, c := range stalled {
		c.Close()
	}
	for status, end := 0, time.Now().Add(patience); status != 200 && time.Now().Before(end); {
		c := e.open(strings.Repeat("x", 100))
		if status, _ = e.answer(c); status != 200 && status != 503 {
			t.Fatalf("the answer is %d", status)
		}
	}
	if len(e.bodies) != 1 {
		t.Error("after the stalled bodies ended, none was accepted")
	}
}

func TestRefusalsAreLoggedOnceASecond(t *testing.T) {
	e := serve(t)
	for range 50 {
		e.answer(e.open("", "X-Sum: "))
	}
	if lines := e.lines(); len(lines) != 1 || !strings.Contains(lines[0], "the request has no signature") || strings.Contains(lines[0], "not_logged") {
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
