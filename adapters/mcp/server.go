package mcp

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/time/rate"

	"gatehouse/adapters/mcp/internal/login"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
)

// times are how long things take. Tests shorten them.
type times struct {
	start, list, ping, pong, relist time.Duration
	probe                           time.Duration // of server/discover
	firstWait, lastWait             time.Duration // between two starts
	// a server that lived for so long is started again without waiting long
	steady time.Duration
	wait   time.Duration // of a call for a server that is away
	call   time.Duration
}

var usual = times{
	start: time.Minute, probe: 3 * time.Second, list: 30 * time.Second, ping: 30 * time.Second, pong: 10 * time.Second,
	relist:    5 * time.Minute,
	firstWait: 500 * time.Millisecond, lastWait: time.Minute, steady: time.Minute, wait: 5 * time.Second,
	call: time.Minute,
}

// maxCalls is how many requests of one server's calls run at a time; it bounds what their results may take. maxCourses
// is how many calls do, most of which wait for a task.
const maxCalls, maxCourses = 8, 256

// server keeps one server running.
type server struct {
	called counts

	Server
	environ   []string
	version   string
	pins      Pins
	hidden    []string          // what of its entry is hidden
	hiding    *mask.Hiding      // of that
	endpoint  *strings.Replacer // hides its URL in errors
	login     *login.Source     // nil: its entry says what authorizes it
	log       *slog.Logger
	times     times
	refreshes *rate.Limiter
	slots     chan struct{} // one for each request of a call that is on its way
	courses   chan struct{} // one for each call, until its task ends
	tried     chan struct{} // closed after the first attempt to start it
	old       bool          // it ended at server/discover, so the next handshake is the older one; of run alone
	once      sync.Once
	removed   chan struct{} // closed when its entry is gone from the configuration
	end       context.CancelFunc

	remembered string            // the digest of the stored list
	given      map[string]string // the names of tools, with those that they stand for

	mu      sync.Mutex
	session *session      // nil: it is away
	changed chan struct{} // closed when session changes
	reason  error         // why it is away
	about   string        // the name and version that it gives itself
	listing listing
	noise   int // lines that were no messages
}

func newServer(entry Server, o Options) *server {
	s := &server{
		Server: entry, environ: o.Environ, version: o.Version, pins: o.Pins, log: o.Log.With("server", entry.Name),
		times:     o.times,
		refreshes: rate.NewLimiter(rate.Every(2*time.Second), 3), slots: make(chan struct{}, maxCalls),
		courses: make(chan struct{}, maxCourses), tried: make(chan struct{}), changed: make(chan struct{}),
		removed: make(chan struct{}),
		given:   map[string]string{},
	}
	if s.Timeout > 0 {
		s.times.call = s.Timeout
	}
	s.hidden, s.endpoint = s.secrets(), withoutURL(entry.URL)
	s.hiding = mask.NewHiding(s.hidden)
	s.login = newLogin(entry, o.Logins, s.log)
	s.recall()
	return s
}

// run keeps the server running until ctx ends.
func (s *server) run(ctx context.Context) {
	if err := s.login.Reseal(ctx); err != nil {
		s.log.Warn("the login to the MCP server could not be encrypted under the newest secret key", "err", err)
	}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = s.times.firstWait, s.times.lastWait
	for ctx.Err() == nil {
		began := time.Now()
		err := s.serve(ctx)
		s.once.Do(func() { close(s.tried) })
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > s.times.steady {
			wait.Reset()
		}
		pause := wait.NextBackOff()
		s.log.Warn("the MCP server does not run; it is started again", "wait", pause.String(), "err", err)
		s.rest(ctx, pause, err)
	}
}

// serve runs one session, and says why it ended.
func (s *server) serve(ctx context.Context) (err error) {
	defer func() { s.setSession(nil, err) }()
	c, err := s.open(ctx)
	if err != nil {
		return err
	}
	var following sync.WaitGroup
	following.Go(c.follow)
	defer following.Wait()
	defer c.close()
	if err := s.refresh(c); err != nil {
		return s.explain(err, c.link.last())
	}
	s.setSession(c, nil)
	s.once.Do(func() { close(s.tried) })
	s.log.Info("the MCP server runs", "about", s.about, "tools", len(s.Tools()))
	if err = s.watch(c); ctx.Err() != nil {
		return ctx.Err()
	}
	return s.explain(err, c.link.last())
}

// setSession makes c the server's session; nil: it is away for the reason err.
func (s *server) setSession(c *session, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.reason = err
	}
	s.session = c
	close(s.changed)
	s.changed = make(chan struct{})
}

// live gives the session. It waits some time for a server that is away.
func (s *server) live(ctx context.Context) (*session, error) {
	timer := time.NewTimer(s.times.wait)
	defer timer.Stop()
	for {
		s.mu.Lock()
		c, changed := s.session, s.changed
		s.mu.Unlock()
		if c != nil && c.gate.Cause() == nil {
			return c, nil
		}
		select {
		case <-changed:
		case <-timer.C:
			return nil, s.notRunning()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// notRunning is the error of a call of a server that is away.
func (s *server) notRunning() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if needsLogin(s.reason) {
		return core.Wrap(core.ToolFailed, s.reason,
			"The MCP server %s needs a new login by an admin; nothing was done.", s.Name)
	}
	why := ""
	if s.reason != nil {
		why = ": " + s.reason.Error()
	}
	return core.Errorf(core.ToolFailed, "The MCP server %s is not running%s. It is being restarted; nothing was done.",
		s.Name, why)
}

// Tools gives the tools that were listed last.
func (s *server) Tools() []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing.tools
}

// Garbage notes what is no message.
func (s *server) Garbage(line []byte) {
	s.mu.Lock()
	s.noise++
	first := s.noise == 1
	s.mu.Unlock()
	if first {
		s.log.Warn("the MCP server writes lines that are no messages to its standard output; they are ignored, this "+
			"one and all others", "line", cut(s.Hide(string(line)), maxSaid/4))
	}
}

// drain ends a server whose entry was removed, once the calls that run have ended.
func (s *server) drain() {
	for range maxCourses {
		s.courses <- struct{}{} // a call ends by itself in the end
	}
	s.log.Info("the MCP server was removed from the configuration, or its entry changed; it is ended")
	s.end()
}

func (s *server) isRemoved() bool {
	select {
	case <-s.removed:
		return true
	default:
		return false
	}
}

// gone is the error of a call of a server whose entry was removed.
func (s *server) gone(name string) error {
	return core.Errorf(core.ToolFailed,
		"The tool %s is gone: its MCP server %s was removed from the configuration, or its entry changed. Nothing "+
			"was done.", name, s.Name)
}

// away reports whether the server does not run now.
func (s *server) away() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session == nil
}

// listed reports whether the server's tools are known.
func (s *server) listed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing.known != nil
}
