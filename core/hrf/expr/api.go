package expr

import "gatehouse/core/strictjson"

// Scope is what references are looked up in. Values are JSON as strictjson.Value.Any gives it: nil, bool, string, json.Number, []any, map[string]any.
type Scope struct {
	Vars  map[string]any
	Input map[string]any
}

// Error is what is wrong with an expression, and where.
type Error struct {
	Column int // in bytes of the expression's text, from 1
	Reason string
	Hint   string // what to do; may be empty
}

func (e *Error) Error() string { return e.Reason }

// Ref is a reference in a compiled text.
type Ref struct {
	Root   string // vars or input
	Name   string // the first name of the path
	Column int
}

// Expr is a compiled reference or call.
type Expr struct{}

// Compile compiles the expression of an extract-input. It must begin with a $ term. The error is always an *Error.
func Compile(text string) (*Expr, error) { return &Expr{}, nil }

// Eval returns the value; nil where there is none.
func (e *Expr) Eval(s Scope) any { return nil }

// Refs returns the references, in their order.
func (e *Expr) Refs() []Ref { return nil }

// Condition is a compiled condition.
type Condition struct{}

// CompileCondition compiles a condition. The error is always an *Error.
func CompileCondition(text string) (*Condition, error) { return &Condition{}, nil }

// Eval returns whether the condition holds.
func (c *Condition) Eval(s Scope) bool { return false }

// Refs returns the references, in their order.
func (c *Condition) Refs() []Ref { return nil }

// Barewords returns the literals without quotes, which read like names.
func (c *Condition) Barewords() []string { return nil }

// Template is a compiled template.
type Template struct{}

// CompileTemplate compiles a template. What is no placeholder is text.
func CompileTemplate(text string) *Template { return &Template{} }

// Render inserts the values. What is inserted is never read as a template.
func (t *Template) Render(s Scope) string { return "" }

// Refs returns the references, in their order.
func (t *Template) Refs() []Ref { return nil }

// Unknown returns what stands in braces and is no placeholder, such as places.length.
func (t *Template) Unknown() []string { return nil }

// Args are compiled arguments: a string that is one expression is evaluated, at any depth; "$$" at its beginning stands for a dollar.
type Args struct{}

// CompileArgs compiles the arguments of a tool call, an object. Errors name the value that is at fault.
func CompileArgs(args *strictjson.Value) (*Args, []ArgError) { return &Args{}, nil }

// ArgError is a fault of one argument.
type ArgError struct {
	Pointer string // below the arguments
	Value   *strictjson.Value
	Err     *Error
}

// Eval returns the arguments.
func (a *Args) Eval(s Scope) map[string]any { return nil }

// Refs returns the references, in their order.
func (a *Args) Refs() []Ref { return nil }
