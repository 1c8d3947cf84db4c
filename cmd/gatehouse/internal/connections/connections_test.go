package connections

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// limited is an HTTP server with at most three connections. /wait is answered once hold is closed. answered: the server
// knows that a connection has no request any more.
func limited(t *testing.T) (address string, begun, hold, answered chan struct{}) {
	t.Helper()
	begun, hold, answered = make(chan struct{}, 10), make(chan struct{}), make(chan struct{}, 100)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/wait", func(http.ResponseWriter, *http.Request) {
		begun <- struct{}{}
		<-hold
	})
	s := httptest.NewUnstartedServer(Impatient(mux))
	limit := New(slog.New(slog.DiscardHandler))
	limit.most = 3
	s.Config.ReadTimeout = patience
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		limit.Follow(c, state)
		if state == http.StateIdle {
			answered <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), begun, hold, answered
}

// dialed is a connection to an HTTP server.
type dialed struct {
	t *testing.T
	net.Conn
	answers *bufio.Reader
}

func dial(t *testing.T, address string) *dialed {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return &dialed{t, c, bufio.NewReader(c)}
}

func (d *dialed) write(text string) *dialed {
	_, _ = io.WriteString(d, text) // it may have been closed
	return d
}

// get asks for a path; answered reports whether there is an answer.
func (d *dialed) get(path string) *dialed {
	return d.write("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")
}

func (d *dialed) answered() bool {
	answer, err := http.ReadResponse(d.answers, nil)
	if err == nil {
		answer.Body.Close()
	}
	return err == nil
}

// closed reports whether the server has closed the connection.
func (d *dialed) closed() bool {
	_, err := d.answers.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// TestManyConnections: who opens many connections and leaves them hinders nobody; what has a request is not closed.
func TestManyConnections(t *testing.T) {
	t.Parallel()
	address, begun, hold, _ := limited(t)
	busy := dial(t, address).get("/wait")
	<-begun
	var idle []*dialed
	for _, begin := range []string{"", "GET / HT"} { // one sends nothing, one not all
		idle = append(idle, dial(t, address).write(begin))
	}
	for i := range 10 {
		if next := dial(t, address).get("/"); !next.answered() {
			t.Fatalf("connection %d was not served", i)
		}
	}
	for i, c := range idle {
		if !c.closed() {
			t.Errorf("idle connection %d is open", i)
		}
	}
	close(hold)
	if !busy.answered() {
		t.Error("what had a request was closed")
	}
}

// TestMoreRequestsThanConnections: above the limit, new connections are closed at once, and served again after that.
func TestMoreRequestsThanConnections(t *testing.T) {
	t.Parallel()
	address, begun, hold, answered := limited(t)
	var busy []*dialed
	for range 3 {
		busy = append(busy, dial(t, address).get("/wait"))
		<-begun
	}
	if more := dial(t, address).get("/"); !more.closed() {
		t.Error("one more was not closed")
	}
	close(hold)
	for _, c := range busy {
		if !c.answered() {
			t.Error("what had a request was closed")
		}
	}
	for range busy {
		<-answered // the clients know it a little earlier
	}
	if next := dial(t, address).get("/"); !next.answered() {
		t.Error("nobody is served any more")
	}
}

// TestABodyThatNobodyReads: the rest of a refused body is not waited for.
func TestABodyThatNobodyReads(t *testing.T) {
	t.Parallel()
	address, _, _, _ := limited(t)
	start := time.Now()
	c := dial(t, address).write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
	c.answered()
	if !c.closed() {
		t.Error("the connection is open")
	}
	if took := time.Since(start); took > patience/2 {
		t.Errorf("it was closed after %s", took)
	}
	whole := dial(t, address)
	for range 2 {
		if !whole.write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx").answered() {
			t.Error("a whole body that nobody reads ends the connection")
		}
	}
}
