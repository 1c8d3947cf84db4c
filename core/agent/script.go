package agent

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"gatehouse/core"
	"gatehouse/core/hrf"
	"gatehouse/core/hrf/interp"
	"gatehouse/core/strictjson"
	"gatehouse/core/tool"
)

// Script is a Model that runs a script of the Harmony Response Format. Each turn is one run; its state is the model's
// memory. A tool call of the script is the model's answer, so it passes the loop's policy, approvals and limits, and a
// script is paused and resumed like any turn.
type Script struct {
	Envelope *hrf.Envelope
	Tools    *tool.Registry
	// answers what the script leaves to a model; nil: there is none. Its System and Tools are not used
	Model  *ProviderModel
	Tokens int64        // how many the model may take in one turn; 0 = no limit
	Log    *slog.Logger // nil: discard
}

// Normalizer: a script is code, and its calls are its steps.
func (Script) Normalizer() (mode, id string) { return "code", "gatehouse.hrf.steps.v1" }

// ScriptLimits are the loop's limits for a Script. Its answers have one call each, so it gets a round for every call;
// the interpreter's own limits are reached first.
var ScriptLimits = Limits{Rounds: DefaultLimits.Calls + 1}

// DemoScript is the text of the script that is built in: the demo's help, calc, time and note commands, as the first
// example of a script.
//
//go:embed demo.json
var DemoScript []byte

// scriptMemory is what a script keeps of a turn.
type scriptMemory struct {
	State   interp.State  `json:"state"`
	Call    core.ToolCall `json:"call"`              // whose result comes next; the zero call: the run has not begun
	Changed []string      `json:"changed,omitempty"` // the sentences about calls whose arguments an approver changed
	Tokens  int64         `json:"tokens,omitempty"`  // that the model took
}

// Next begins a run with the last message, or goes on with the result of the last call, up to the next call or the end.
// Errors: script_failed, limit_reached, and those of the provider.
func (m Script) Next(ctx context.Context, history core.History, memory json.RawMessage) (Answer, error) {
	tail, err := history.Tail(ctx, 1)
	if err != nil || len(tail) == 0 {
		return Answer{}, err
	}
	run := scriptRun{Script: m, program: m.program(), callID: "call_" + strconv.Itoa(history.Len())}
	if len(memory) > 0 {
		if err := json.Unmarshal(memory, &run.kept); err != nil {
			return Answer{}, fmt.Errorf("reading where the script is: %w", err)
		}
	}
	before := run.kept.Tokens
	answer, err := run.next(ctx, tail[0])
	answer.Tokens = run.kept.Tokens - before
	if err == nil {
		err = write(ctx, answer.Message)
	}
	return answer, err
}

// Check returns what would make every run fail before it begins, such as a tool that does not exist. later reports
// whether a tool that is missing now may still be added. nil: the script can run.
func (m Script) Check(later func(tool string) bool) *hrf.Error {
	p := m.program()
	p.Catalog = catalog{m.Tools, later}
	return p.Check()
}

// catalog is the tools that there are now. later reports whether a missing one may still be added; nil: none is.
type catalog struct {
	tools *tool.Registry
	later func(tool string) bool
}

func (c catalog) Schema(recipient string) (schema json.RawMessage, known bool) {
	t, known := c.tools.Get(recipient)
	return t.Schema, known || c.later != nil && c.later(recipient)
}

// program is the script with the tools that there are now.
func (m Script) program() *interp.Program {
	return &interp.Program{Envelope: m.Envelope, Catalog: catalog{tools: m.Tools}}
}

// scriptRun is one Next of a script.
type scriptRun struct {
	Script
	program *interp.Program
	kept    scriptMemory
	callID  string        // of the call that may come
	failed  *tool.Failure // why the call before failed; nil: it did not
}

func (r *scriptRun) next(ctx context.Context, last core.Message) (Answer, error) {
	var result interp.Result
	switch {
	case r.kept.Call.ID == "":
		r.kept.State = r.program.Start(scriptInput(last.Content.Own()))
	case last.Role == core.ToolRole && last.ToolCallID == r.kept.Call.ID:
		result = r.result(last.Content.String())
	default:
		return Answer{},
			core.Errorf(core.Internal, "the last message is not the result of the script's call %s", r.kept.Call.ID)
	}
	for {
		state, effect, err := r.program.Next(ctx, r.kept.State, result)
		if err != nil {
			return Answer{}, err
		}
		r.kept.State = state
		switch effect := effect.(type) {
		case interp.CallTool:
			return r.call(effect)
		case interp.AskModel:
			if r.Model == nil {
				result = interp.Result{Err: noModel}
				continue
			}
			answer, err := r.ask(ctx, effect.Messages)
			if err != nil || !answer.complete() {
				answer.Message = core.Message{} // half of a text that may be meant for a step of the script
				return answer, err
			}
			result = interp.Result{Value: answer.Content.String()}
		case interp.Done:
			return r.done(effect.Text), nil
		case interp.Failed:
			return r.fail(ctx, effect.Err)
		}
	}
}

// result is a tool's result as the script gets it: a text that is a JSON object or array is that value, any other is a
// string.
func (r *scriptRun) result(text string) interp.Result {
	if f, failed := tool.FailureOf(text); failed {
		r.failed = &f
		return interp.Result{Err: f.Message}
	}
	changed, text := tool.Changed(text)
	if changed != "" {
		r.kept.Changed = append(r.kept.Changed, changed)
	}
	if text == core.NoOutput {
		text = ""
	}
	v, err := strictjson.Parse([]byte(text))
	if err != nil || v.Kind != strictjson.Object && v.Kind != strictjson.Array {
		return interp.Result{Value: text}
	}
	return interp.Result{Value: v.Any()}
}

// call is the answer that calls a tool.
func (r *scriptRun) call(e interp.CallTool) (Answer, error) {
	args, err := json.Marshal(e.Args)
	if err != nil {
		return Answer{}, fmt.Errorf("writing the arguments of %s: %w", e.Recipient, err)
	}
	r.kept.Call, r.kept.State = core.ToolCall{ID: r.callID, Name: e.Recipient, Arguments: args}, r.kept.State.Trimmed()
	memory, err := json.Marshal(r.kept)
	if err != nil {
		return Answer{}, fmt.Errorf("writing where the script is: %w", err)
	}
	return Answer{Message: core.Message{ToolCalls: []core.ToolCall{r.kept.Call}}, Memory: memory}, nil
}

// done is the answer that ends the turn.
func (r *scriptRun) done(text string) Answer {
	said := r.kept.Changed
	if strings.TrimSpace(text) != "" {
		said = append([]string{text}, said...)
	}
	if len(said) == 0 {
		return Answer{Silent: true}
	}
	return Answer{Message: textAnswer(strings.Join(said, "\n"))}
}

// fail ends the turn of a script that can't go on. A call that was refused or failed gives an answer that says so; all
// else is an error of the turn.
//
// Decision (2026-11): a failed call ends the turn with an answer. Rejected: an error of the turn. It would drop the
// conversation, ask the person to change a message that was fine, and, where the failure may pass, run the script again
// from its beginning.
func (r *scriptRun) fail(ctx context.Context, fault *hrf.Error) (Answer, error) {
	details, _ := fault.Details.(interp.Details)
	if r.failed != nil {
		if r.Log != nil {
			r.Log.WarnContext(ctx, "the script ended: a tool failed", "tool", r.kept.Call.Name,
				"category", r.failed.Category, "code", fault.Code, "pointer", details.Pointer)
		}
		return r.done(r.report(*r.failed)), nil
	}
	category := core.ScriptFailed
	if details.Limit != "" {
		category = core.LimitReached
	}
	said := append([]string{r.stopped(fault, details)}, r.kept.Changed...)
	return Answer{}, core.Wrap(category, fault, "%s", strings.Join(said, "\n"))
}

// stopped says why a script can't go on.
func (r *scriptRun) stopped(fault *hrf.Error, details interp.Details) string {
	if len(details.Recipients) > 0 { // the registry knows why a tool is missing
		_, err := r.Tools.Find(core.ToolCall{Name: details.Recipients[0]})
		return "The bot's script can't run. " + core.MessageOf(err)
	}
	where, after := "", ""
	if details.Line > 0 {
		where = fmt.Sprintf(" at line %d", details.Line)
	}
	if r.kept.Call.ID != "" {
		after = " What it did until then stays done."
	}
	return fmt.Sprintf("The bot's script stopped%s: %s.%s", where, fault.Message, after)
}

// report says why a call failed, and of one that may not run, what was not done.
func (r *scriptRun) report(f tool.Failure) string {
	text := strings.TrimSpace(f.Message + " " + f.Changed)
	bound, err := r.Tools.Bind(r.kept.Call)
	if err != nil || !refused(f) {
		return text
	}
	return "This was not done: " + bound.Summary + " " + text
}
