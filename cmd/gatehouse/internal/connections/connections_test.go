package connections

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
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
	limit := New(0, slog.New(slog.DiscardHandler))
	limit.most = 3
	s := httptest.NewUnstartedServer(limit.Handler(mux))
	s.Config.ConnContext = limit.Know
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

// TestRefusedBodiesKeepNobodyOut: connections that are answered, and whose bodies are still to come, make room.
func TestRefusedBodiesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	address, _, _, _ := limited(t)
	for i := range 20 {
		c := dial(t, address).write("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n{")
		if !c.answered() {
			t.Fatalf("connection %d was not served", i)
		}
	}
	if !dial(t, address).get("/").answered() {
		t.Error("nobody is served any more")
	}
}

// from is a connection from an address.
type from struct {
	net.Conn
	address string
}

func (f *from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.address))
}

// TestOneAddressDoesNotCloseOthersConnections: what is closed is of the address that has the most.
func TestOneAddressDoesNotCloseOthersConnections(t *testing.T) {
	limit := New(0, slog.New(slog.DiscardHandler))
	limit.most = 4
	other, first := &from{address: "192.0.2.1:1"}, &from{address: "[2001:db8::1]:1"}
	limit.change(other, http.StateNew)
	limit.change(first, http.StateNew)
	var mine []net.Conn
	for i := range 10 {
		c := &from{address: fmt.Sprintf("[2001:db8::%x]:1", i+2)}
		mine = append(mine, c)
		var want net.Conn
		switch {
		case i == 2:
			want = first
		case i > 2:
			want = mine[i-3]
		}
		if closed := limit.change(c, http.StateNew); closed != want {
			t.Errorf("connection %d closes %v, want %v", i, closed, want)
		}
	}
}

// TestConnectionsTakeAQuarterOfTheMemory at most.
func TestConnectionsTakeAQuarterOfTheMemory(t *testing.T) {
	if most := New(64<<20, slog.New(slog.DiscardHandler)).most; most != 512 {
		t.Errorf("%d connections", most)
	}
}
