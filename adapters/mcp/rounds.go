package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp/internal/gate"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
	"gatehouse/core/tool"
)

const (
	maxRounds = 10       // of a call: how often the server may answer by questions
	maxAsked  = 10       // questions of a round
	maxState  = 64 << 10 // bytes of a round's questions, and of what it keeps for the server
)

// course is the way of a call to its result: rounds, in which the server asks, and a task, which is polled. Its
// exported fields are kept with the call's intent, so that another process can go on. Nothing is kept while a round is
// on its way: whoever is killed then leaves an unknown outcome. A call that only reads keeps nothing, and asks nobody.
type course struct {
	*server `json:"-"`
	d       definition
	key     string
	args    json.RawMessage
	rounds  *tool.Rounds

	Entry     string                     `json:"entry"` // the digest of how the server that it began at is reached
	Round     int                        `json:"round"`
	State     string                     `json:"state,omitempty"`    // the server's requestState
	Requests  map[string]json.RawMessage `json:"requests,omitempty"` // what it asks now
	Responses sdk.InputResponseMap       `json:"responses,omitempty"`
	Task      string                     `json:"task,omitempty"`
	Poll      float64                    `json:"poll,omitempty"` // milliseconds
	Answered  []string                   `json:"answered,omitempty"`
}

// unfinished is a result that is none yet.
type unfinished struct {
	ResultType    string                     `json:"resultType"`
	InputRequests map[string]json.RawMessage `json:"inputRequests"`
	RequestState  string                     `json:"requestState"`
	TaskID        string                     `json:"taskId"`
	Poll          float64                    `json:"pollIntervalMs"`
}

// capabilities are what gatehouse can do for a call: a task is always polled; people can be asked where the call has an
// intent.
func capabilities(d definition) map[string]any {
	can := map[string]any{"extensions": map[string]any{tasksExtension: struct{}{}}}
	if d.standing != Reads {
		can["elicitation"] = map[string]any{"form": struct{}{}}
	}
	return can
}

// run goes on until the call has a result, or waits for people.
func (c *course) run(ctx context.Context) (string, error) {
	why := ""
	select {
	case c.courses <- struct{}{}:
		defer func() { <-c.courses }()
	default:
		why = fmt.Sprintf("is busy with %d other calls", maxCourses)
	}
	if c.isRemoved() {
		why = "was removed from the configuration, or its entry changed"
	}
	switch begun := c.rounds != nil && c.rounds.Before != ""; {
	case begun && why != "":
		return "", c.doubt("the MCP server %s, which had begun it, %s", c.Name, why)
	case c.isRemoved():
		return "", c.gone(c.d.name)
	case why != "":
		return "",
			core.Errorf(core.ToolFailed, "%s was not called, because the MCP server %s %s. Nothing was done.", c.d.name,
				c.Name, why)
	case begun:
		if err := json.Unmarshal([]byte(c.rounds.Before), c); err != nil {
			return "", c.doubt("how far it was can't be read: %v", err)
		}
		if c.Entry != c.entryDigest() {
			return "",
				c.doubt("the MCP server %s, which had begun it, was replaced by another in the configuration", c.Name)
		}
	}
	for {
		if err := c.respond(); err != nil {
			if c.Task != "" && !errors.As(err, new(*tool.Paused)) {
				c.cancelTask(ctx)
			}
			return "", err
		}
		next := c.send
		if c.Task != "" {
			next = c.poll
		}
		result, err := next(ctx)
		if err != nil {
			return "", err
		}
		if result != nil {
			return c.content(ctx, c.d.name, result)
		}
	}
}

// send sends the call, or its next round. The result is nil if the server asks, or makes a task of it.
func (c *course) send(ctx context.Context) (*sdk.CallToolResult, error) {
	params := &sdk.CallToolParams{
		Meta: sdk.Meta{}, Name: c.d.remote, Arguments: c.args, InputResponses: c.Responses, RequestState: c.State,
	}
	if c.key != "" {
		params.Meta[keyOfCall] = c.key
	}
	if c.rounds != nil && c.rounds.Before != "" || c.Round > 0 {
		if err := c.keep(""); err != nil {
			return nil, err
		}
	}
	if c.Round > 0 && len(c.Requests) == 0 { // the server has too much to do, and wants the call again
		select {
		case <-time.After(c.times.firstWait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	result, err := c.exchange(ctx, c.d, params)
	if err != nil && c.Round > 0 && errors.As(err, new(notSent)) {
		return nil, c.doubt("the MCP server %s had begun it, and could not be reached to go on", c.Name)
	}
	if err != nil {
		return nil, err
	}
	text, _ := result.Meta[gate.Unfinished].(string)
	var said unfinished
	switch {
	case text == "" && !result.NeedsInput():
		return result, nil
	case json.Unmarshal([]byte(text), &said) != nil:
		return nil, c.doubt("the MCP server %s asked something that can't be read", c.Name)
	case said.ResultType == "task" && usableTask(said.TaskID):
		c.Task, c.Poll, c.Requests, c.Responses, c.State = said.TaskID, said.Poll, nil, nil, ""
		return nil, c.keepCourse()
	case said.ResultType != "input_required":
		return nil,
			c.doubt("the MCP server %s answered with what gatehouse does not know: a result of the type %q", c.Name,
				cut(c.Hide(said.ResultType), 100))
	}
	return nil, c.asked(said.InputRequests, said.RequestState)
}

// asked takes what the server asks, within the limits.
func (c *course) asked(requests map[string]json.RawMessage, state string) error {
	c.Round++
	size := len(state)
	for key, request := range requests {
		size += len(key) + len(request)
	}
	if c.Round > maxRounds || len(requests) > maxAsked || size > maxState {
		return core.Errorf(core.ToolFailed,
			"%s was ended, because the MCP server %s asked too much: it may ask %d times, "+
				"%d questions and %d KiB each.",
			c.d.name, c.Name, maxRounds, maxAsked, maxState>>10)
	}
	c.Requests, c.Responses, c.State = requests, sdk.InputResponseMap{}, state
	return nil
}

// respond answers what the server asks. The error is a tool.Paused as long as people must be asked first.
func (c *course) respond() error {
	if len(c.Requests) > 0 && c.Responses == nil { // as it is kept without one
		c.Responses = sdk.InputResponseMap{}
	}
	for _, key := range slices.Sorted(maps.Keys(c.Requests)) {
		if c.Responses[key] != nil {
			continue
		}
		var asked struct {
			Method string
			Params elicitation
		}
		_ = json.Unmarshal(c.Requests[key], &asked) // it is none of the methods then
		switch asked.Method {
		case "roots/list":
			c.Responses[key] = &sdk.ListRootsResult{Roots: []*sdk.Root{}} //nolint:staticcheck // servers ask for it
		case "elicitation/create":
			response, err := c.elicit(asked.Params)
			if err != nil {
				return err
			}
			c.Responses[key] = response
		default:
			return core.Errorf(core.ToolFailed,
				"%s was ended, because the MCP server %s asked for %q, which it was not offered.", c.d.name, c.Name,
				cut(c.Hide(asked.Method), 100))
		}
	}
	return nil
}

// elicitation is a server's question to people.
type elicitation struct {
	Mode            string
	Message         string
	RequestedSchema json.RawMessage
}

// The answers to it.
const accepts, declines, cancels = "accept", "decline", "cancel"

// elicit answers a question by what people said to it. The error is a tool.Paused if they must be asked first. A
// question that leads to an address, or that people can't be shown, is refused.
func (c *course) elicit(e elicitation) (*sdk.ElicitResult, error) {
	if c.rounds == nil || e.Mode == "url" {
		return &sdk.ElicitResult{Action: declines}, nil
	}
	q, confirm, err := c.question(e)
	if err != nil {
		c.log.Warn("a question of the MCP server can't be shown to people; it is told that nobody answered",
			"tool", c.d.name, "err", c.hideError(err))
		return &sdk.ElicitResult{Action: cancels}, nil
	}
	answer := c.rounds.Answer
	if answer == nil {
		progress, err := json.Marshal(c)
		if err != nil {
			return nil, fmt.Errorf("writing how far %s is: %w", c.d.name, err)
		}
		return nil, &tool.Paused{Question: &q, Progress: string(progress)}
	}
	c.rounds.Answer = nil // it is used
	switch answer.State {
	case core.Answered:
	case core.Denied:
		return &sdk.ElicitResult{Action: declines}, nil
	default:
		return &sdk.ElicitResult{Action: cancels}, nil
	}
	if confirm {
		return &sdk.ElicitResult{Action: map[bool]string{
			true: accepts, false: declines,
		}[string(answer.Content) == "true"]}, nil
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(answer.Content, &values); err != nil {
		return &sdk.ElicitResult{Action: cancels}, nil // erased meanwhile
	}
	content := map[string]any{}
	for name, value := range values {
		content[name] = value
	}
	return &sdk.ElicitResult{Action: accepts, Content: content}, nil
}

// maxMessage is how much of a server's message a question has.
const maxMessage = 1200

// question is what people are asked: the server's words and fields, and who asks. One without fields is to be
// confirmed.
func (c *course) question(e elicitation) (q question.Question, confirm bool, err error) {
	text := fmt.Sprintf("The MCP server %s (not gatehouse) asks this for its tool %s, and gets the answer:\n%s", c.Name,
		c.d.name, mask.Escape(cut(c.Hide(e.Message), maxMessage)))
	var form struct{ Properties map[string]json.RawMessage }
	if len(e.RequestedSchema) > 0 {
		err = json.Unmarshal(e.RequestedSchema, &form)
	}
	if err != nil {
		return q, false, fmt.Errorf("its schema can't be read: %w", err)
	}
	for name := range form.Properties {
		probe, _ := json.Marshal(map[string]string{name: "a value that is secret"}) // texts: can't fail
		if len(mask.Secrets(probe)) > 0 {
			text += "\nNever type a password, key or token here."
			break
		}
	}
	if len(form.Properties) == 0 {
		q, err = question.New(text, json.RawMessage(`{"type":"boolean"}`))
		return q, true, err
	}
	q, err = question.New(text, json.RawMessage(c.Hide(string(e.RequestedSchema))))
	return q, false, err
}

// keep commits how far the call is; "": a round is on its way.
func (c *course) keep(progress string) error {
	if c.rounds == nil {
		return nil
	}
	if err := c.rounds.Keep(progress); err != nil {
		return fmt.Errorf("keeping how far %s is: %w", c.d.name, err)
	}
	return nil
}

func (c *course) keepCourse() error {
	progress, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("writing how far %s is: %w", c.d.name, err)
	}
	return c.keep(string(progress))
}

// doubt is the error of a call of which nobody can say whether it took effect.
func (c *course) doubt(why string, args ...any) error {
	why = fmt.Sprintf(why, args...)
	if c.d.standing == Reads {
		return core.Errorf(core.ToolFailed, "%s failed: %s.", c.d.name, why)
	}
	return core.Errorf(core.OutcomeUnknown,
		"The outcome of %s is unknown: %s. It is not sent again. Please check whether it took effect.", c.d.name, why)
}
