package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp/internal/gate"
	"gatehouse/core"
	"gatehouse/core/tool"
)

// Tasks are the protocol's extension SEP-2663: a server answers a call by the id of a task, which is polled until it
// ends.
const (
	tasksExtension = "io.modelcontextprotocol/tasks"

	getTask    = "tasks/get"
	updateTask = "tasks/update"
	cancelTask = "tasks/cancel"
)

const (
	maxTask    = 24 * time.Hour   // how long a task is polled by one process
	maxSilence = time.Hour        // how long its server may be away meanwhile
	afterStop  = 10 * time.Second // how long a task that is to stop is polled
	cancelling = 5 * time.Second  // how long it may take to tell that it is to stop
	maxTaskID  = 1 << 10
)

type taskParams struct {
	sdk.ParamsBase
	TaskID         string               `json:"taskId"`
	InputResponses sdk.InputResponseMap `json:"inputResponses,omitempty"`
}

type task struct {
	sdk.ResultBase
	Status        string                     `json:"status"`
	Message       string                     `json:"statusMessage"`
	Poll          float64                    `json:"pollIntervalMs"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
	Result        json.RawMessage            `json:"result"`
	Error         struct {
		Message string `json:"message"`
	} `json:"error"`
}

// taskKey finds the id of a task in the context of a request about it.
type taskKey struct{}

// usableTask reports whether an id can stand in a header.
func usableTask(id string) bool {
	return id != "" && len(id) <= maxTaskID && !slices.ContainsFunc([]byte(id), func(b byte) bool {
		return b <= ' ' || b > '~'
	})
}

// poll follows the call's task until it ends, or until the server asks something: then the result is nil. A person who
// stops the turn has the task cancelled. When gatehouse stops, polling goes on after its restart.
func (c *course) poll(ctx context.Context) (*sdk.CallToolResult, error) {
	if len(c.Responses) > 0 {
		if err := c.update(ctx); err != nil {
			return nil, err
		}
	}
	limit, heard := time.Now().Add(maxTask), time.Now()
	stop, process := c.signals()
	for stopped := false; ; {
		select {
		case <-time.After(c.interval(stopped)):
		case <-stop:
			stop, stopped, limit = nil, true, time.Now().Add(afterStop)
			c.cancelTask(ctx)
			continue
		case <-process:
			return nil, &tool.Paused{}
		case <-ctx.Done():
			c.cancelTask(ctx)
			return nil, ctx.Err()
		}
		t, err := c.ask(ctx, getTask, &taskParams{})
		if err == nil {
			heard = time.Now()
			c.Poll = cmp.Or(t.Poll, c.Poll)
			if result, ended, err := c.ended(t); ended || err != nil {
				return result, err
			}
			if c.news(t) && !stopped {
				if err := c.asked(t.InputRequests, ""); err != nil {
					c.cancelTask(ctx)
					return nil, err
				}
				return nil, nil
			}
		} else if lostTask(err) {
			return nil,
				c.doubt("the MCP server %s does not know its task any more: %s", c.Name,
					cut(c.hideError(err), maxReason))
		}
		switch now := time.Now(); {
		case now.After(limit) && stopped:
			return nil, c.doubt("the MCP server %s was asked to cancel its task, and has not said that it did", c.Name)
		case now.After(limit):
			c.cancelTask(ctx)
			return nil, c.doubt("its task did not end within %s, and was cancelled", maxTask)
		case now.Sub(heard) > maxSilence:
			return nil,
				c.doubt("the MCP server %s, which has a task of it, could not be reached for %s", c.Name, maxSilence)
		}
	}
}

// signals are those by which a person stops the turn, and by which gatehouse stops. A call that only reads ends with
// its context.
func (c *course) signals() (stop, process <-chan struct{}) {
	if c.rounds != nil && c.rounds.Stop != nil {
		stop = c.rounds.Stop.Done()
	}
	if c.rounds != nil && c.rounds.Process != nil {
		process = c.rounds.Process.Done()
	}
	return stop, process
}

// interval is how long to wait before the next poll: as long as the server says, from a second to a minute; five
// seconds if it says nothing.
func (c *course) interval(stopped bool) time.Duration {
	if stopped {
		return time.Second
	}
	return time.Duration(min(max(cmp.Or(c.Poll, 5_000), 1_000), 60_000)) * time.Millisecond
}

// ended gives what a task that has ended came to.
func (c *course) ended(t *task) (*sdk.CallToolResult, bool, error) {
	switch t.Status {
	case "completed":
		result := &sdk.CallToolResult{}
		if err := json.Unmarshal(t.Result, result); err != nil {
			return nil, true, c.doubt("its task was completed with a result that can't be read")
		}
		return result, true, nil
	case "failed":
		return nil, true,
			core.Errorf(core.ToolFailed, "%s failed: %s", c.d.name, cut(c.hideReason(t.Error.Message), maxFailure))
	case "cancelled":
		return nil, true,
			core.Errorf(core.ToolFailed, "%s was cancelled; what it did until then stays done. %s", c.d.name,
				cut(c.hideReason(t.Message), maxFailure))
	}
	return nil, false, nil
}

// news reports whether a task asks what was not answered yet, and leaves nothing else of what it asks.
func (c *course) news(t *task) bool {
	maps.DeleteFunc(t.InputRequests, func(key string, _ json.RawMessage) bool {
		return slices.Contains(c.Answered, key)
	})
	return t.Status == "input_required" && len(t.InputRequests) > 0
}

// update gives the task the answers. A server ignores those that it has already, so they are sent until it took them.
func (c *course) update(ctx context.Context) error {
	for began := time.Now(); ; {
		_, err := c.ask(ctx, updateTask, &taskParams{InputResponses: c.Responses})
		switch {
		case err == nil:
			c.Answered = slices.AppendSeq(c.Answered, maps.Keys(c.Requests))
			c.Requests, c.Responses = nil, nil
			return c.keepCourse()
		case lostTask(err) || time.Since(began) > maxSilence:
			return c.doubt("the MCP server %s did not take an answer for its task: %s", c.Name,
				cut(c.hideError(err), maxReason))
		}
		stop, process := c.signals()
		select {
		case <-time.After(c.interval(false)):
		case <-process:
			return &tool.Paused{}
		case <-stop:
			c.cancelTask(ctx)
			return c.doubt("its turn was stopped while it waited for the MCP server %s", c.Name)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// cancelTask asks the server to cancel the task, which it may do or not.
func (c *course) cancelTask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelling)
	defer cancel()
	if _, err := c.ask(ctx, cancelTask, &taskParams{}); err != nil {
		c.log.Warn("a task of the MCP server could not be cancelled", "tool", c.d.name, "err", c.hideError(err))
	}
}

// ask sends a request about the task. When gatehouse stops it does not wait for the answer, but to the cancelling,
// since another process asks again.
func (c *course) ask(ctx context.Context, method string, params *taskParams) (*task, error) {
	if method != cancelTask && c.rounds != nil && c.rounds.Process != nil {
		var cut context.CancelFunc
		ctx, cut = context.WithCancel(ctx)
		defer cut()
		defer context.AfterFunc(c.rounds.Process, cut)()
	}
	free, err := c.slot(ctx, c.d)
	if err != nil {
		return nil, err
	}
	defer free()
	live, err := c.live(ctx)
	if err != nil {
		return nil, err
	}
	live.calls.Add(1)
	defer live.calls.Add(-1)
	asking, cancel := context.WithTimeout(context.WithValue(ctx, taskKey{}, c.Task), c.times.call)
	defer cancel()
	params.TaskID, params.Meta = c.Task, sdk.Meta{}
	if live.modern() {
		params.Meta[sdk.MetaKeyClientCapabilities] = capabilities(c.d)
	}
	t, err := sdk.CallCustomMethod[*taskParams, *task](asking, live.ClientSession, method, params)
	if err != nil {
		return nil, err
	}
	// it says "task" or "input_required" for the type of this result, too
	if text, wrapped := t.Meta[gate.Unfinished].(string); wrapped {
		err = json.Unmarshal([]byte(text), t)
	}
	return t, err
}

// lostTask reports whether the server says that it does not know a task, or no tasks.
func lostTask(err error) bool {
	answer := answerIn(err)
	return answer != nil && (answer.Code == jsonrpc.CodeInvalidParams || answer.Code == jsonrpc.CodeMethodNotFound)
}
