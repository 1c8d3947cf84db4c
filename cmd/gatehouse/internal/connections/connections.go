// Package connections limits the connections of an HTTP server: how many there are, how long one is held by a body that
// nobody reads, and on whose behalf a request holds memory.
package connections

import (
	"container/list"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/core"
	"gatehouse/core/inflight"
)

// Limit bounds how many connections the HTTP server has. Anybody can open one, and each takes a file descriptor, which
// the database, the platforms and the models need too, and memory. Above the limit, a connection is closed that waits
// for a request: of the address that has the most of them, the one that has been waiting the longest. It may be that of
// a slow sender, or one that a client keeps for later, which opens another one. If all have a request, the new one is
// closed.
type Limit struct {
	most int
	log  *slog.Logger

	mu      sync.Mutex
	all     map[net.Conn]*list.Element // nil: it has a request
	waiting map[string]*list.List      // of net.Conn, the longest waiting first; by the peer's address

	warning sync.Mutex
	warned  time.Time // guarded by warning
}

// maxConnections is the limit where there are descriptors and memory for more.
const maxConnections = 8192

// connectionMemory is what a connection may hold: its goroutine, its buffers, and a head of the largest size. All
// together they hold a quarter of the budget at most, beside it.
const connectionMemory = 32 << 10

// New makes a limit of half of what the process may have open, of what its budget of memory allows (0: anything), and
// of maxConnections at most.
func New(memory int64, log *slog.Logger) *Limit {
	most := maxConnections
	if n := Files(); n > 0 {
		most = max(1, min(most, n/2))
	}
	if memory > 0 {
		most = max(1, min(most, int(memory/4/connectionMemory)))
	}
	return &Limit{most: most, log: log, all: map[net.Conn]*list.Element{}, waiting: map[string]*list.List{}}
}

// Follow is the server's ConnState.
func (c *Limit) Follow(conn net.Conn, state http.ConnState) {
	if closed := c.change(conn, state); closed != nil {
		_ = closed.Close() // the server notices and forgets it
	}
}

// change notes a connection's state, and returns the one to close; nil: none.
func (c *Limit) change(conn net.Conn, state http.ConnState) (closed net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	place, known := c.all[conn]
	if place != nil {
		c.leave(conn, place)
	}
	switch {
	case state == http.StateClosed || state == http.StateHijacked:
		delete(c.all, conn)
		return nil
	case !known && state != http.StateNew: // it is being closed
		return nil
	case state == http.StateActive:
		c.all[conn] = nil
		return nil
	case state == http.StateNew && len(c.all) >= c.most:
		c.warn("there are as many HTTP connections as the limit allows; those that wait the longest are closed for " +
			"new ones")
		var longest *list.List
		for _, waiting := range c.waiting {
			if longest == nil || waiting.Len() > longest.Len() {
				longest = waiting
			}
		}
		if longest == nil {
			return conn
		}
		closed = longest.Front().Value.(net.Conn)
		c.leave(closed, longest.Front())
		delete(c.all, closed)
	}
	c.wait(conn)
	return closed
}

// wait begins the wait of a connection.
func (c *Limit) wait(conn net.Conn) {
	from := access.Peer(conn.RemoteAddr().String())
	if c.waiting[from] == nil {
		c.waiting[from] = list.New()
	}
	c.all[conn] = c.waiting[from].PushBack(conn)
}

// leave ends the wait of a connection.
func (c *Limit) leave(conn net.Conn, place *list.Element) {
	from := access.Peer(conn.RemoteAddr().String())
	if c.waiting[from].Remove(place); c.waiting[from].Len() == 0 {
		delete(c.waiting, from)
	}
}

// Counted makes each request hold memory of a budget: on behalf of its address, until its handler knows who sends it.
// What it holds is given back when it has been answered.
func Counted(b *inflight.Budget, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hold := b.Hold(inflight.Strangers, access.Peer(r.RemoteAddr))
		defer hold.Release()
		h.ServeHTTP(w, r.WithContext(inflight.With(r.Context(), hold)))
	})
}

// FewFiles says that the process may have too few files and connections open for its work; "" if they are enough.
func FewFiles() string {
	n := Files()
	if n == 0 || n >= enoughFiles {
		return ""
	}
	return fmt.Sprintf("gatehouse may have only %d files and connections open; with fewer than %d it can't reach the "+
		"database, the platforms and the models at all times. Raise the limit to 1024 or more: ulimit -n, LimitNOFILE "+
		"of systemd, --ulimit nofile of Docker.", n, enoughFiles)
}

// enoughFiles is what a process needs with few people; 1024 is what most systems give it.
const enoughFiles = 256

// Watch makes a listener tell why it can take no connection.
func (c *Limit) Watch(l net.Listener) net.Listener { return watched{l, c} }

type watched struct {
	net.Listener
	limit *Limit
}

// Accept takes the next connection. The server tries again after an error.
func (w watched) Accept() (net.Conn, error) {
	conn, err := w.Listener.Accept()
	if why := core.NoHandles(err); why != "" {
		w.limit.warn(why + "a connection to the HTTP server")
	}
	return conn, err
}

// warn says something once a minute.
func (c *Limit) warn(what string) {
	c.warning.Lock()
	defer c.warning.Unlock()
	if now := time.Now(); now.Sub(c.warned) > time.Minute {
		c.warned = now
		c.log.Warn(what, "limit", c.most)
	}
}

// bodyRest is how long the rest of a body may take that no handler has read. The server reads it to keep the
// connection.
const bodyRest = time.Second

// Handler ends the wait for the rest of a body soon after its request was answered: whoever was refused must not hold a
// connection with it. Above the limit, such a connection is closed like one that waits.
func (c *Limit) Handler(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if r.Body == http.NoBody {
			return
		}
		// the server sets its own for the next request
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyRest))
		if conn, ok := r.Context().Value(connection{}).(net.Conn); ok {
			c.answered(conn)
		}
	})
}

type connection struct{}

// Know is the server's ConnContext.
func (c *Limit) Know(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, conn)
}

// answered notes that a connection's request has its answer.
func (c *Limit) answered(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if place, known := c.all[conn]; known && place == nil {
		c.wait(conn)
	}
}
