package interp

import (
	"cmp"
	"context"
	"encoding/json"

	"gatehouse/core/hrf"
)

// Program is an envelope that can be run. It is read-only and safe for concurrent use.
type Program struct {
	Envelope *hrf.Envelope
	Limits   Limits
	// Tool tells whether a recipient exists, and its JSON Schema of arguments (nil: none). All recipients are checked before the first effect.
	Tool       func(recipient string) (schema json.RawMessage, known bool)
	StrictVars bool // a variable that nothing has set is an error
}

// Limits bound a run; what is zero has the default. A run that exceeds one fails; the details of its error name it.
type Limits struct {
	Steps      int // executed
	Depth      int // of ifs in each other
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

// Check gives the fault with which every run ends before its first effect: there is no script, it is nested too deeply, or a tool does not exist.
// nil: there is none.
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

// Next goes on to the next effect. It is deterministic and changes nothing that it is given. A state that has ended stays so. The error is that of
// the context, if it ends before the next step.
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
