package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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
		Timeout: 2 * (s.times.call + s.times.wait + answerTime), MaxOutput: maxResult + maxFailure,
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
	case <-busy.C:
		return "", core.Errorf(core.ToolFailed, "%s was not called, because the MCP server %s is busy with %d other calls. Nothing was done.", d.name, s.Name, maxCalls)
	case <-ctx.Done():
		return "", ctx.Err()
	}
	for again := false; ; again = true {
		c, err := s.live(ctx)
		if err != nil {
			return "", err
		}
		if !s.still(d) {
			return "", core.Errorf(core.ToolFailed, "The tool %s has changed since this call was checked, so nothing was done. Please ask again.", d.name)
		}
		result, seen, err := s.send(ctx, c, d, key, args)
		if err == nil {
			return s.content(d.name, result)
		}
		if seen.lost { // whoever comes next gets a new session
			_ = c.gate.fail(err)
		}
		if seen.again && !again {
			continue
		}
		return "", s.failure(ctx, d, seen, err)
	}
}

// still reports whether the server's definition of a tool is the one that a call was checked with.
func (s *server) still(d definition) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listing.known[d.name].digest == d.digest && s.listing.known[d.name].standing == d.standing
}

// sight is what is known about a call that failed.
type sight struct {
	untaken bool  // the server did not begin it
	again   bool  // it may be sent again: nothing of it was written, or the tool only reads
	lost    bool  // the session is of no use any more
	late    bool  // the time for it is over
	status  int   // of HTTP; 0 = none
	foreign bool  // what came under the status does not answer this call
	cause   error // why the connection ended; nil: it did not
}

// send sends a call and waits for its result.
func (s *server) send(ctx context.Context, c *session, d definition, key string, args json.RawMessage) (*sdk.CallToolResult, sight, error) {
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
		return result, sight{}, nil
	}
	seen := sight{status: int(tr.status.Load()), late: errors.Is(sending.Err(), context.DeadlineExceeded)}
	if c.gate.ctx.Err() != nil {
		seen.cause = context.Cause(c.gate.ctx)
	}
	seen.foreign = seen.status >= http.StatusBadRequest && !tr.answered.Load()
	unsent := errors.Is(err, errUnwritten) || !tr.sent.Load() && ctx.Err() == nil && !seen.late
	switch {
	case unsent:
		seen.untaken, seen.lost, seen.again = true, true, true
	case slices.Contains(unknown, seen.status): // the server may have run the call, whatever the status says
		seen.lost, seen.again = true, d.standing == Reads && !seen.late
	case seen.late: // a status that came afterwards says nothing
	case slices.Contains(refusals, seen.status) || seen.status >= 300 && seen.status < 400:
		seen.untaken = true
	}
	return nil, seen, err
}

// unknown are the statuses of HTTP by which a server says that it does not know the session, after a restart. Others send them too.
var unknown = []int{http.StatusNotFound, http.StatusGone, http.StatusBadRequest}

// refusals are the statuses of HTTP by which a server says that it did not begin.
var refusals = []int{
	http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
}

// failure is the typed error of a call that failed. The outcome of a call that the server had, and did not answer, is unknown if the tool
// may change something.
func (s *server) failure(ctx context.Context, d definition, seen sight, err error) error {
	if ctx.Err() != nil && !seen.late {
		return ctx.Err()
	}
	if answer := answerIn(err); answer != nil && !seen.foreign {
		category := core.ToolFailed
		if answer.Code == jsonrpc.CodeInvalidParams {
			category = core.ToolArguments
		}
		return core.Wrap(category, errors.New(cut(s.hideError(err), maxReason)), "%s failed: %s", d.name, cut(s.hideReason(answer.Message), maxFailure))
	}
	why := s.reasonOf(seen, err)
	cause := errors.New(cut(s.hideError(err), maxReason))
	if seen.untaken {
		return core.Wrap(core.ToolFailed, cause, "%s was not called, because %s. Nothing was done.", d.name, why)
	}
	if d.standing == Reads {
		return core.Wrap(core.ToolFailed, cause, "%s failed, because %s.", d.name, why)
	}
	return core.Wrap(core.OutcomeUnknown, cause, "The outcome of %s is unknown: it was started, and then %s. It is not run again. Please check whether it took effect.", d.name, why)
}

// answerIn gives the error that the server answered; nil if it did not answer. The SDK has an error of its own of the same type, for what
// it could not send.
func answerIn(err error) *jsonrpc.Error {
	var answer *jsonrpc.Error
	if errors.As(err, &answer) && answer.Code != rejectedCode {
		return answer
	}
	return nil
}

// rejectedCode is that of the SDK's own error.
const rejectedCode = -32005

// reasonOf says why there is no result, in words that follow because.
func (s *server) reasonOf(seen sight, err error) string {
	who := "the MCP server " + s.Name
	switch {
	case errors.Is(seen.cause, errTooLarge) || errors.Is(err, errTooLarge):
		return who + " sent more than 4 MiB at once, so the connection to it was ended"
	case seen.late:
		return who + " did not answer within " + s.times.call.Round(time.Millisecond).String()
	case seen.status == http.StatusUnauthorized || seen.status == http.StatusForbidden:
		return who + " refuses gatehouse's credentials (HTTP " + strconv.Itoa(seen.status) + "); the headers in mcp.json must be mended"
	case seen.status >= 300:
		return who + " answered with HTTP status " + strconv.Itoa(seen.status)
	case seen.untaken:
		return who + " can't be reached; it is being restarted"
	}
	return "the connection to " + who + " was lost"
}
