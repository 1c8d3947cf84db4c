package expr

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

// Args are the compiled arguments of a tool call. Strings that are expressions are evaluated, at any depth.
type Args struct {
	found
	root object
}

// ArgError is a fault of one argument.
type ArgError struct {
	Path  []string // the keys and indexes that lead to it from the arguments
	Value *strictjson.Value
	Err   *Error
}

// CompileArgs compiles the arguments of a tool call, which must be an object. It returns all faults.
func CompileArgs(args *strictjson.Value) (*Args, []ArgError) {
	c := argCompiler{}
	root := c.object(args)
	if c.errors != nil {
		return nil, c.errors
	}
	return &Args{found: c.found, root: root}, nil
}

// Eval returns the arguments, a new value each time. ok is false, and there are none, if their Size would be more than
// limit.
func (a *Args) Eval(s Scope, limit int) (args map[string]any, ok bool) {
	f := filler{scope: s, left: limit}
	args, _ = f.value(a.root).(map[string]any)
	if f.left < 0 {
		return nil, false
	}
	return args, true
}

// object and list hold nodes, objects and lists.
type (
	object map[string]any
	list   []any
)

// filler evaluates arguments until they are too large.
type filler struct {
	scope Scope
	left  int
}

func (f *filler) value(v any) any {
	if f.left < 0 {
		return nil
	}
	switch v := v.(type) {
	case object:
		f.left -= Size(map[string]any{})
		values := make(map[string]any, len(v))
		for name, part := range v {
			f.left -= ofMember + len(name)
			values[name] = f.value(part)
		}
		return values
	case list:
		f.left -= Size([]any{})
		values := make([]any, len(v))
		for i, part := range v {
			f.left -= ofItem
			values[i] = f.value(part)
		}
		return values
	}
	value := v.(node).eval(f.scope)
	f.left -= Size(value)
	return value
}

type argCompiler struct {
	found
	path   []string // to the value that is compiled
	errors []ArgError
}

func (c *argCompiler) value(v *strictjson.Value) any {
	switch v.Kind {
	case strictjson.Object:
		return c.object(v)
	case strictjson.Array:
		l := make(list, len(v.Items))
		for i, item := range v.Items {
			l[i] = c.part(strconv.Itoa(i), item)
		}
		return l
	case strictjson.String:
		return c.text(v)
	}
	return literal{v.Any()}
}

func (c *argCompiler) object(v *strictjson.Value) object {
	o := make(object, len(v.Members))
	for _, m := range v.Members {
		o[m.Key] = c.part(m.Key, m.Value)
	}
	return o
}

// part compiles a member or an item.
func (c *argCompiler) part(step string, v *strictjson.Value) any {
	c.path = append(c.path, step)
	defer func() { c.path = c.path[:len(c.path)-1] }()
	return c.value(v)
}

func (c *argCompiler) text(v *strictjson.Value) node {
	if strings.HasPrefix(v.String, "$$") {
		return literal{v.String[1:]}
	}
	if !begins(v.String) {
		return literal{v.String}
	}
	e, err := Compile(v.String)
	var fault *Error
	if errors.As(err, &fault) {
		withEscape := *fault
		withEscape.Hint = strings.TrimPrefix(fault.Hint+"; for text that begins with a dollar, write $$", "; ")
		c.errors = append(c.errors, ArgError{slices.Clone(c.path), v, &withEscape})
		return literal{nil}
	}
	c.refs = append(c.refs, e.refs...)
	c.barewords = append(c.barewords, e.barewords...)
	return e.root
}
