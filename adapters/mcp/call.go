package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptrace"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// errNoPins is why a definition can't be compared where there is no store.
var errNoPins = errors.New("there is no store")

// keyOfCall is where a call's key goes: the same for every attempt of one call, so that a server can know a repetition.
const keyOfCall = "gatehouse/call-key"

// tool makes a tool from a definition. It gives itself more time than a call and its task get, so that it can say
// itself what became of them. A server's word that a tool is idempotent counts for nothing.
func (s *server) tool(d definition) (tool.Tool, error) {
	t := tool.Tool{
		Name: d.name, Description: d.description, Schema: d.schema, Version: d.digest, Mutating: d.standing != Reads,
		Timeout: maxTask + 2*(s.times.call+s.times.wait+answerTimeout), MaxOutput: maxResult + maxFailure,
		Do: func(ctx context.Context, key string, args json.RawMessage) (string, error) {
			c := course{server: s, d: d, key: key, args: args, rounds: tool.RoundsOf(ctx), Entry: s.entryDigest()}
			return c.run(ctx)
		},
	}
	if t.Mutating {
		t.Summarize = func(json.RawMessage) string { return "Call " + d.remote + " of the MCP server " + s.Name + "." }
	}
	if d.pin == FirstSeen || d.pin == Confirmed {
		t.Annotations = d.hints
	}
	if d.standing == Dangerous {
		t.Risk = core.Dangerous
	}
	return t.Prepare()
}

// notSent is the error of a call, or of a later round of it, of which the server got nothing.
type notSent struct{ error }

// Unwrap gives the error itself.
func (e notSent) Unwrap() error { return e.error }

// exchange sends a call, or a later round of it, and gives the server's result.
func (s *server) exchange(ctx context.Context, d definition, params *sdk.CallToolParams) (*sdk.CallToolResult, error) {
	result, err := s.exchangeOnce(ctx, d, params)
	s.called.note(result, err)
	return result, err
}

func (s *server) exchangeOnce(
	ctx context.Context, d definition, params *sdk.CallToolParams,
) (*sdk.CallToolResult, error) {
	free, err := s.slot(ctx, d)
	if err != nil {
		return nil, notSent{err}
	}
	defer free()
	for again := false; ; again = true {
		c, err := s.live(ctx)
		if err != nil {
			return nil, notSent{err}
		}
		if params.InputResponses == nil && !s.still(d) {
			return nil, core.Errorf(core.ToolFailed, "The tool %s has changed since this call was checked, so "+
				"nothing was done. Please ask again.", d.name)
		}
		result, failed := s.send(ctx, c, d, params)
		if failed == nil {
			return result, nil
		}
		if failed.lost { // whoever comes next gets a new session
			_ = c.gate.Fail(failed.err)
		}
		if failed.again && !again {
			continue
		}
		if err = s.failure(ctx, d, failed); failed.unsent {
			err = notSent{err}
		}
		return nil, err
	}
}

// slot waits until another call of the server may run.
func (s *server) slot(ctx context.Context, d definition) (free func(), err error) {
	busy := time.NewTimer(s.times.call)
	defer busy.Stop()
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-busy.C:
		return nil, core.Errorf(core.ToolFailed, "%s was not called, because the MCP server %s is busy with %d other "+
			"calls. Nothing was done.", d.name, s.Name, maxCalls)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// still reports whether the server's definition of a tool is the one that a call was checked with.
func (s *server) still(d definition) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing.known[d.name].digest == d.digest && s.listing.known[d.name].standing == d.standing
}

// send sends a call and waits for its result.
func (s *server) send(
	ctx context.Context, c *session, d definition, params *sdk.CallToolParams,
) (*sdk.CallToolResult, *failedCall) {
	c.calls.Add(1)
	defer c.calls.Add(-1)
	var tr trace
	sending, cancel := context.WithTimeout(context.WithValue(ctx, traceKey{}, &tr), s.times.call)
	defer cancel()
	// What the SDK says about it is of no use: it takes some answers of a server for a connection that was closed
	// before.
	sending = httptrace.WithClientTrace(sending, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		tr.sent.Store(true)
	}})
	if c.modern() {
		params.Meta[sdk.MetaKeyClientCapabilities] = capabilities(d)
	}
	result, err := c.CallTool(sending, params)
	if err == nil {
		return result, nil
	}
	failed := &failedCall{
		err: err, status: tr.foreign(), late: errors.Is(sending.Err(), context.DeadlineExceeded), cause: c.gate.Cause(),
	}
	failed.unsent = errors.Is(err, errUnwritten) || !tr.sent.Load() && ctx.Err() == nil && !failed.late
	switch {
	case failed.unsent:
		failed.lost, failed.again = true, true
	case slices.Contains(forgotten, int(tr.status.Load())):
		failed.lost, failed.again = true, d.standing == Reads && !failed.late
	}
	return nil, failed
}
