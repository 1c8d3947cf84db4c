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

// tool makes a tool from a definition. It gives itself more time than a call gets, so that it can say itself what became of the call. A
// server's word that a tool is idempotent counts for nothing.
func (s *server) tool(d definition) (tool.Tool, error) {
	t := tool.Tool{
		Name: d.name, Description: d.description, Schema: d.schema, Version: d.digest, Mutating: d.standing != Reads,
		Timeout: 2 * (s.times.call + s.times.wait + answerTimeout), MaxOutput: maxResult + maxFailure,
		Do: func(ctx context.Context, key string, args json.RawMessage) (string, error) {
			return s.call(ctx, d, key, args)
		},
	}
	if t.Mutating {
		t.Summarize = func(json.RawMessage) string { return "Call " + d.remote + " of the MCP server " + s.Name + "." }
	}
	if d.destructive && t.Mutating {
		t.Risk = core.Dangerous
	}
	return t.Prepare()
}

// call calls a tool with the arguments as they are. key is the call's; "" if it has none.
func (s *server) call(ctx context.Context, d definition, key string, args json.RawMessage) (string, error) {
	busy := time.NewTimer(s.times.call)
	defer busy.Stop()
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.removed:
		return "", s.gone(d.name)
	case <-busy.C:
		return "", core.Errorf(core.ToolFailed, "%s was not called, because the MCP server %s is busy with %d other calls. Nothing was done.", d.name, s.Name, maxCalls)
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if s.isRemoved() {
		return "", s.gone(d.name)
	}
	for again := false; ; again = true {
		c, err := s.live(ctx)
		if err != nil {
			return "", err
		}
		if !s.still(d) {
			return "", core.Errorf(core.ToolFailed, "The tool %s has changed since this call was checked, so nothing was done. Please ask again.", d.name)
		}
		result, failed := s.send(ctx, c, d, key, args)
		if failed == nil {
			return s.content(ctx, d.name, result)
		}
		if failed.lost { // whoever comes next gets a new session
			_ = c.gate.Fail(failed.err)
		}
		if failed.again && !again {
			continue
		}
		return "", s.failure(ctx, d, failed)
	}
}

// still reports whether the server's definition of a tool is the one that a call was checked with.
func (s *server) still(d definition) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing.known[d.name].digest == d.digest && s.listing.known[d.name].standing == d.standing
}

// send sends a call and waits for its result.
func (s *server) send(ctx context.Context, c *session, d definition, key string, args json.RawMessage) (*sdk.CallToolResult, *failedCall) {
	c.calls.Add(1)
	defer c.calls.Add(-1)
	var tr trace
	sending, cancel := context.WithTimeout(context.WithValue(ctx, traceKey{}, &tr), s.times.call)
	defer cancel()
	// What the SDK says about it is of no use: it takes some answers of a server for a connection that was closed before.
	sending = httptrace.WithClientTrace(sending, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { tr.sent.Store(true) }})
	params := &sdk.CallToolParams{Name: d.remote, Arguments: args}
	if key != "" {
		params.Meta = sdk.Meta{keyOfCall: key}
	}
	result, err := c.CallTool(sending, params)
	if err == nil {
		return result, nil
	}
	failed := &failedCall{err: err, status: tr.foreign(), late: errors.Is(sending.Err(), context.DeadlineExceeded), cause: c.gate.Cause()}
	failed.unsent = errors.Is(err, errUnwritten) || !tr.sent.Load() && ctx.Err() == nil && !failed.late
	switch {
	case failed.unsent:
		failed.lost, failed.again = true, true
	case slices.Contains(forgotten, int(tr.status.Load())):
		failed.lost, failed.again = true, d.standing == Reads && !failed.late
	}
	return nil, failed
}
