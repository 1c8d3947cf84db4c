// Package connections limits the connections of an HTTP server: how many there are, and how long one is held by a body
// that nobody reads.
package connections

import (
	"container/list"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"gatehouse/core"
)

// Limit bounds how many connections the HTTP server has. Anybody can open one, and each takes a file descriptor, which
// the database, the platforms and the models need too. Above the limit, the connection that has been waiting for a
// request the longest is closed; it may be that of a slow sender, or one that a client keeps for later, which opens
// another one. If all have a request, the new one is closed.
type Limit struct {
	most int
	log  *slog.Logger

	mu      sync.Mutex
	all     map[net.Conn]*list.Element // nil: it has a request
	waiting list.List                  // of net.Conn, the longest waiting first

	warning sync.Mutex
	warned  time.Time // guarded by warning
}

// maxConnections is the limit where there are descriptors for more.
const maxConnections = 8192

// New makes a limit of half of what the process may have open, and of maxConnections at most.
func New(log *slog.Logger) *Limit {
	most := maxConnections
	if n := Files(); n > 0 {
		most = max(1, min(most, n/2))
	}
	return &Limit{most: most, log: log, all: map[net.Conn]*list.Element{}}
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
		c.waiting.Remove(place)
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
		if c.waiting.Len() == 0 {
			return conn
		}
		closed = c.waiting.Remove(c.waiting.Front()).(net.Conn)
		delete(c.all, closed)
	}
	c.all[conn] = c.waiting.PushBack(conn)
	return closed
}

// FewFiles says that the process may have too few files and connections open for its work; "" if they are enough.
func FewFiles() string {
	n := Files()
	if n == 0 || n >= enoughFiles {
		return ""
	}
	return fmt.Sprintf("gatehouse may have only %d files and connections open; with fewer than %d it can't reach the "+
		"database, the platforms and the models at all times. Raise the limit to 1024 or more: ulimit -n, LimitNOFILE of "+
		"systemd, --ulimit nofile of Docker.", n, enoughFiles)
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

// Impatient ends the wait for the rest of a body soon after its request was answered: whoever was refused must not hold
// a connection with it.
func Impatient(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		// the server sets its own for the next request
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyRest))
	})
}
