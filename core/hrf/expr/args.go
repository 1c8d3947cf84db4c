package expr

import (
	"errors"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

// Args are compiled arguments: a string that is one expression is evaluated, at any depth; "$$" at its beginning stands for a dollar.
type Args struct {
	found
	root object
}

// ArgError is a fault of one argument.
type ArgError struct {
	Pointer string // below the arguments
	Value   *strictjson.Value
	Err     *Error
}

// CompileArgs compiles the arguments of a tool call, an object. Errors name the value that is at fault.
func CompileArgs(args *strictjson.Value) (*Args, []ArgError) {
	c := argCompiler{}
	root := c.object(args, "")
	if c.errors != nil {
		return nil, c.errors
	}
	return &Args{found: c.found, root: root}, nil
}

// Eval returns the arguments.
func (a *Args) Eval(s Scope) map[string]any { return a.root.values(s) }

// object and list make a new value each time, so that no tool can change a program.
type (
	object map[string]node
	list   []node
)

func (o object) eval(s Scope) any { return o.values(s) }

func (o object) values(s Scope) map[string]any {
	values := make(map[string]any, len(o))
	for name, n := range o {
		values[name] = n.eval(s)
	}
	return values
}

func (l list) eval(s Scope) any {
	values := make([]any, len(l))
	for i, n := range l {
		values[i] = n.eval(s)
	}
	return values
}

type argCompiler struct {
	found
	errors []ArgError
}

func (c *argCompiler) value(v *strictjson.Value, pointer string) node {
	switch v.Kind {
	case strictjson.Object:
		return c.object(v, pointer)
	case strictjson.Array:
		l := make(list, len(v.Items))
		for i, item := range v.Items {
			l[i] = c.value(item, pointer+strictjson.Pointer(strconv.Itoa(i)))
		}
		return l
	case strictjson.String:
		return c.text(v, pointer)
	}
	return literal{v.Any()}
}

func (c *argCompiler) object(v *strictjson.Value, pointer string) object {
	o := make(object, len(v.Members))
	for _, m := range v.Members {
		o[m.Key] = c.value(m.Value, pointer+strictjson.Pointer(m.Key))
	}
	return o
}

func (c *argCompiler) text(v *strictjson.Value, pointer string) node {
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
		withEscape.Hint = strings.TrimPrefix(fault.Hint+"; for a text that begins with a dollar, write $$", "; ")
		c.errors = append(c.errors, ArgError{pointer, v, &withEscape})
		return literal{nil}
	}
	c.refs = append(c.refs, e.refs...)
	c.barewords = append(c.barewords, e.barewords...)
	return e.root
}
