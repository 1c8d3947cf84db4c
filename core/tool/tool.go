package tool

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/strictjson"
)

// Tool is something the agent can do. Each is made in a file of its own, with its clock and clients as arguments.
type Tool struct {
	Name        string          // plugin.function; the grammar is that of NameForm
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the arguments, whose type is object; empty: any object
	Mutating    bool            // it changes something in the world and runs only with an approval
	Risk        core.Risk       // of a mutating tool: how much care an approver must take

	// Summarize describes in one sentence what a call with these arguments will do. Approvers read it. Only for
	// mutating tools.
	Summarize func(args json.RawMessage) string
	// Says reports whether that sentence says every argument, see the function Says. nil: it does not.
	Says func(args json.RawMessage) bool

	// Do runs the tool and gives the text that the model reads. args fit the schema. key is the call's own, and the
	// same on every attempt to run it: the id of the approval of a mutating call, ReadKey of one that only reads. Of an
	// *Error the model reads category and message; any other error but a Paused (see Rounds) becomes tool_failed, and
	// is logged. What Do gives beside an error the model reads, too. Do returns when ctx ends, and holds no more of its
	// output than MaxOutput.
	Do func(ctx context.Context, key string, args json.RawMessage) (string, error)

	// Ask makes the question of a tool that asks people in place of doing something: the turn is paused until one of
	// them answers, and the answer is the call's result. Such a tool only reads, and has no Do. Errors: tool_arguments.
	Ask func(args json.RawMessage) (Asking, error)

	// Annotations are what a foreign server says of the tool, for the policy: they change nothing here.
	Annotations core.Annotations

	// Idempotent is the word of whoever brings the tool that running a call again under the same key does what running
	// it once does. Only such a tool runs again where the outcome of a mutating call is unknown. The two runs may
	// overlap.
	Idempotent bool

	// Process is whether Do runs a process of this machine. When gatehouse stops and the time to drain is over, its
	// context ends with core.ErrStopping: Do asks the process to end. A call without one goes on until it returns.
	Process bool

	// Fixed are names that whoever brings the tool has given values of their own: no argument may have one, whatever
	// the schema allows.
	Fixed []string

	// Version is that of a tool which somebody else defines: it changes with whatever they say of it. An approval is
	// bound to it, with the schema.
	Version string

	Timeout   time.Duration // how long a call may take; 0: DefaultTimeout
	MaxOutput int           // how many bytes a result may have; 0: DefaultMaxOutput

	compiled *jsonschema.Schema // by NewRegistry
}

// What holds for a tool that says nothing else.
const (
	DefaultTimeout   = time.Minute
	DefaultMaxOutput = 64 << 10
)

// NameForm describes the names of tools for people.
const NameForm = "plugin.function, with letters, digits, _ and - on both sides of the one dot"

var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`)

// ValidName reports whether a tool may have this name.
func ValidName(name string) bool { return nameForm.MatchString(name) }

// Validate checks a tool that is brought from elsewhere: its name, its functions, and its schema. Errors: invalid;
// SchemaFaults are in the chain if it is the schema.
func (t Tool) Validate() error {
	switch {
	case !ValidName(t.Name):
		return core.Errorf(core.Invalid, "The name of the tool %q is not of the form %s.", t.Name, NameForm)
	case t.Ask != nil && (t.Mutating || t.Do != nil):
		return core.Errorf(core.Invalid, "The tool %s asks people, so it can't do anything else.", t.Name)
	case t.Ask == nil && t.Do == nil || t.Mutating && t.Summarize == nil:
		return core.Errorf(core.Invalid, "The tool %s lacks Do or Summarize.", t.Name)
	case t.Timeout < 0 || t.MaxOutput < 0:
		return core.Errorf(core.Invalid, "The limits of the tool %s are negative.", t.Name)
	}
	if _, faults := compile(t.Schema); len(faults) > 0 {
		return core.Wrap(core.Invalid, faults, "The schema of the tool %s is not valid: %s.", t.Name, faults)
	}
	return nil
}

// Registry holds the tools of one agent: fixed ones, and those of sources.
type Registry struct {
	tools   []Tool
	sources []Source
}

// NewRegistry keeps tools in their order. It panics on two tools of one name and on a tool that is not valid: what is
// brought from elsewhere is checked with Validate before.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{}
	for _, t := range tools {
		t, err := t.Prepare()
		if err != nil {
			panic(err)
		}
		if _, twice := r.Get(t.Name); twice {
			panic("tool " + t.Name + ": registered twice")
		}
		r.tools = append(r.tools, t)
	}
	return r
}

// Get gives the tool of that name.
func (r *Registry) Get(name string) (Tool, bool) {
	all := r.all()
	i := slices.IndexFunc(all, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return all[i], true
}

// Find gives the tool that a call names, and checks the arguments against its schema. The error tells the model what is
// wrong with each. Errors: tool_unknown, tool_arguments.
func (r *Registry) Find(call core.ToolCall) (Tool, error) {
	t, ok := r.Get(call.Name)
	if !ok {
		return Tool{}, r.missing(call.Name)
	}
	args, err := strictjson.Parse(call.Arguments)
	if err != nil {
		return Tool{}, core.Wrap(core.ToolArguments, err, "The arguments of %s are not valid JSON: %s.", call.Name, err)
	}
	if why := t.unfit(args); why != "" {
		return Tool{}, core.Errorf(core.ToolArguments, "The arguments of %s do not fit its schema: %s.", call.Name, why)
	}
	if at, found := masked(args); found {
		return Tool{}, core.Errorf(core.ToolArguments, "The arguments of %s can't be used: %s holds %s, the mark in "+
			"place of a value that is hidden, and not the value itself. "+
			"Leave it out, or say that you can't see the value.", call.Name, short(at), mask.Mark)
	}
	if texts, faults := t.faults(args); texts != "" {
		secrets := r.Secrets(call)
		for name, text := range faults {
			faults[name] = mask.Without(text, secrets)
		}
		return Tool{},
			core.Wrap(core.ToolArguments, faults, "The arguments of %s do not fit its schema: %s.", call.Name,
				mask.Without(texts, secrets))
	}
	return t, nil
}

// Secret gives JSON pointers to the arguments of a call that its tool's schema says are secret; none if there is no
// such tool.
func (r *Registry) Secret(call core.ToolCall) []string {
	t, _ := r.Get(call.Name) // without a tool there is no schema
	return t.Secret(call.Arguments)
}

// Secrets gives the secrets in the arguments of a call: those that the tool's schema, their names or their form mark as
// such.
func (r *Registry) Secrets(call core.ToolCall) []string {
	return mask.Secrets(call.Arguments, r.Secret(call)...)
}

// Tools gives all tools of now in the order they were registered.
func (r *Registry) Tools() []Tool { return slices.Clone(r.all()) }
