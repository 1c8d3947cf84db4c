package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp/internal/gate"
	"gatehouse/adapters/mcp/internal/login"
)

// modern is the version of the protocol that has no handshake: a server that knows it answers server/discover.
const modern = "2026-07-28"

// versions are those of the older handshake, the newest first, which it offers. A server answers with the one that it
// speaks.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// handshake watches how a server answers the first request of a connection.
type handshake struct {
	patience time.Duration // for server/discover, which a server of an older version may not answer at all
	silent   bool          // it did not answer server/discover, or ended
	refused  error         // why its version can't be used; nil: it can
}

// middleware bounds server/discover in time, and ends a handshake in which a server answers with a version that
// gatehouse does not speak.
func (h *handshake) middleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == "server/discover" {
			asking, cancel := context.WithTimeout(ctx, h.patience)
			defer cancel()
			result, err := next(asking, method, req)
			h.silent = err != nil && answerIn(err) == nil
			return result, err
		}
		result, err := next(ctx, method, req)
		if list, ok := result.(*sdk.ListToolsResult); err == nil && ok {
			list.TTLMs = 0 // gatehouse decides when it lists again
		}
		if said, ok := result.(*sdk.InitializeResult); err == nil && ok &&
			!slices.Contains(versions, said.ProtocolVersion) {
			h.refused = fmt.Errorf("it speaks version %q of the protocol, and gatehouse only %s, and %s by "+
				"server/discover; use another version of the server",
				cut(said.ProtocolVersion, 100), strings.Join(versions, ", "), modern)
			return nil, h.refused
		}
		return result, err
	}
}

// link is what a session runs over: a process or an endpoint.
type link interface {
	sdk.Transport
	// last tells what is known about its end.
	last() string
	// close ends it; it may be called once, and returns when nothing of it is left.
	close()
}

// session is a connection to a server that has shaken hands.
type session struct {
	*sdk.ClientSession
	link  link
	gate  *gate.Gate
	calls atomic.Int32 // that run
}

// modern reports whether the server speaks the version without a handshake: it gets no ping, and may answer a call by a
// question or a task.
func (c *session) modern() bool { return c.InitializeResult().ProtocolVersion >= modern }

// open starts or reaches the server and agrees on a version with it: it asks by server/discover, unless the server
// ended at that before, or answered with nothing that can be read, and otherwise shakes hands as older versions do.
func (s *server) open(ctx context.Context) (*session, error) {
	g := gate.New(ctx, s)
	l, err := s.newLink(g)
	if err != nil {
		_ = g.Fail(err)
		return nil, s.explain(err, "")
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "gatehouse", Version: s.version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		// so that the SDK subscribes to it; the gate gives the sign
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {},
	})
	shaking := handshake{patience: min(s.times.probe, s.times.start/2)}
	client.AddSendingMiddleware(shaking.middleware)
	for _, method := range []string{getTask, updateTask, cancelTask} {
		_ = sdk.AddSendingCustomMethod[*taskParams, *task](client, method) // it is none of the SDK's
	}
	offered := modern
	if s.old {
		offered = versions[0]
	}
	var tr trace
	starting, cancel := context.WithTimeout(context.WithValue(g.Context(), traceKey{}, &tr), s.times.start)
	defer cancel()
	c, err := client.Connect(starting, l, &sdk.ClientSessionOptions{ProtocolVersion: offered})
	if shaking.silent && answerIn(err) != nil {
		s.times.probe = s.times.start // it knows no older handshake: it only starts slowly
	}
	heard := s.URL == "" || tr.status.Load() != 0 // an endpoint that can't be reached says nothing about its version
	s.old = heard && shaking.silent && err != nil && answerIn(err) == nil || s.old && err == nil
	if err != nil {
		_ = g.Fail(s.whyNotOpen(starting, &tr, err))
		l.close()
		// where its version is refused, the SDK has ended it by now
		return nil, s.explain(cmp.Or(shaking.refused, g.Cause()), l.last())
	}
	return &session{ClientSession: c, link: l, gate: g}, nil
}

// whyNotOpen says why the handshake failed.
func (s *server) whyNotOpen(starting context.Context, tr *trace, err error) error {
	var to redirected
	var failed *url.Error
	switch status := tr.foreign(); {
	case errors.Is(starting.Err(), context.DeadlineExceeded):
		return fmt.Errorf("it did not answer within %s", s.times.start)
	case errors.As(err, &to):
		return to
	case needsLogin(err):
		return err
	case status != 0:
		return errors.New("it answered HTTP status " + statusText(status))
	case errors.As(err, &failed):
		return fmt.Errorf("it can't be reached: %w", failed.Err)
	}
	return err
}

func (s *server) newLink(g *gate.Gate) (link, error) {
	if s.URL != "" {
		return newWire(s.Server, g, s.login), nil
	}
	p, err := start(s.Server, s.environ, g, newStderr(s.log, s))
	if err != nil {
		return nil, fmt.Errorf("it can't be started: %w", err)
	}
	return p, nil
}

// explain joins why a connection ended with what is known about the process.
func (s *server) explain(err error, last string) error {
	if need := (login.Needed{}); errors.As(err, &need) {
		return login.Needed{Server: s.Name, Why: cut(s.hideReason(need.Why), maxReason)}
	}
	var parts []string
	if last == "" || !errors.Is(err, errEnded) && !errors.Is(err, errHungUp) {
		parts = append(parts, s.hideError(err))
	}
	if last != "" {
		parts = append(parts, s.hideReason(last))
	}
	return errors.New(cut(strings.Join(parts, "; "), maxReason))
}

// maxReason is how long the reason is why a server is away.
const maxReason = 1 << 10

// follow ends the session's context when the connection ends.
func (c *session) follow() {
	err := c.Wait()
	if err == nil {
		err = errHungUp
	}
	_ = c.gate.Fail(err)
}

// close ends the session and what it runs over.
func (c *session) close() {
	_ = c.gate.Fail(errClosed)
	c.link.close()
	_ = c.Close() // its connection is closed
}

// errHungUp is the cause where a server closed the connection.
var errHungUp = errors.New("it closed the connection")

// errClosed is the cause where gatehouse ended the session.
var errClosed = errors.New("the connection was closed")

// watch keeps a session until it ends, and says why it did.
func (s *server) watch(c *session) error {
	ping, again := time.NewTicker(s.times.ping), time.NewTicker(s.times.relist)
	defer ping.Stop()
	defer again.Stop()
	for {
		select {
		case <-c.gate.Context().Done():
			return c.gate.Cause()
		case <-c.gate.Changed():
			if s.refreshes.Wait(c.gate.Context()) == nil {
				_ = s.relist(c) // it is logged
			}
		case <-again.C:
			_ = s.relist(c) // it is logged
		case <-ping.C:
			if c.calls.Load() > 0 {
				continue // many servers do one thing at a time
			}
			if s.ping(c) == nil || c.calls.Load() > 0 {
				continue
			}
			if err := s.ping(c); err != nil && c.calls.Load() == 0 {
				return fmt.Errorf("it did not answer two pings: %w", err)
			}
		}
	}
}

// ping asks the server whether it lives: one of the version that knows no ping, for the first page of its tools. That
// it does not know what it is asked for is an answer.
func (s *server) ping(c *session) error {
	ctx, cancel := context.WithTimeout(c.gate.Context(), s.times.pong)
	defer cancel()
	var err error
	if c.modern() {
		_, err = c.ListTools(ctx, nil)
	} else {
		err = c.Ping(ctx, nil)
	}
	if answer := answerIn(err); answer != nil && answer.Code == jsonrpc.CodeMethodNotFound {
		return nil
	}
	return err
}

// relist lists the tools again. A list that can't be had changes nothing.
func (s *server) relist(c *session) error {
	err := s.refresh(c)
	if err != nil && c.gate.Cause() == nil {
		s.log.Warn("the MCP server's tools could not be listed; those listed before stay", "err", s.hideError(err))
	}
	return err
}
