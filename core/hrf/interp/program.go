package interp

import (
	"cmp"
	"context"
	"encoding/json"

	"gatehouse/core/hrf"
)

// Program is an envelope that can be run. It is read-only and safe for concurrent use.
type Program struct {
	Envelope   *hrf.Envelope
	Limits     Limits
	Catalog    Catalog // nil: no recipient exists
	StrictVars bool    // a variable that nothing has set is an error
}

// Catalog knows the tools. All recipients are looked up before the first effect.
type Catalog interface {
	// Schema tells whether a recipient exists, and its JSON Schema of arguments (nil: none).
	Schema(recipient string) (schema json.RawMessage, known bool)
}

// Limits bound a run; zero means the default. A run that exceeds one fails, and Details name it.
type Limits struct {
	Steps      int // executed
	Depth      int // of nested ifs
	ToolCalls  int
	ModelCalls int
	Size       int // bytes of all variables together, of the chat together, of the arguments of a call, and of one text
}

// defaultLimits bound a run whose program does not say otherwise.
var defaultLimits = Limits{Steps: 10_000, Depth: 64, ToolCalls: 100, ModelCalls: 20, Size: 1 << 20}

func (l Limits) orDefault() Limits {
	return Limits{
		Steps:      cmp.Or(l.Steps, defaultLimits.Steps),
		Depth:      cmp.Or(l.Depth, defaultLimits.Depth),
		ToolCalls:  cmp.Or(l.ToolCalls, defaultLimits.ToolCalls),
		ModelCalls: cmp.Or(l.ModelCalls, defaultLimits.ModelCalls),
		Size:       cmp.Or(l.Size, defaultLimits.Size),
	}
}

// Check returns what makes every run fail before its first effect: there is no script, it is nested too deeply, a
// message that calls is malformed, or a tool does not exist. nil: nothing.
func (p *Program) Check() *hrf.Error {
	r := &run{program: p, limits: p.Limits.orDefault()}
	if f, failed := r.check().(Failed); failed {
		return f.Err
	}
	return nil
}

// Start returns the state before the first step. input is data as strictjson.Value.Any gives it.
func (p *Program) Start(input map[string]any) State {
	return State{Phase: begin, Input: input}
}

// Next continues a run with the result of its last effect, up to the next effect. It is deterministic and changes
// nothing that it is given. A run that has ended gives Failed. The error is that of the context, if it has ended.
func (p *Program) Next(ctx context.Context, s State, result Result) (State, Effect, error) {
	r := &run{program: p, limits: p.Limits.orDefault(), State: s.copy()}
	var effect Effect
	for act := func() Effect { return r.accept(result) }; effect == nil; act = r.walk {
		if err := ctx.Err(); err != nil {
			return s, nil, err
		}
		effect = act()
	}
	return r.State, effect, nil
}
