package expr

// Bounds of one expression or condition.
const (
	maxLength = 4096 // bytes
	maxDepth  = 32   // calls within calls
)

// Scope is what references are looked up in. Values are JSON as strictjson.Value.Any gives it: nil, bool, string,
// json.Number, []any, map[string]any. Evaluation never changes them; what it returns may share parts with them.
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

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

// Ref is a reference in a compiled text.
type Ref struct {
	Root   string // vars or input
	Name   string // the first name of the path
	Column int    // in bytes of the text, from 1; of an argument, in its own text
}

// found is what a compiled text mentions.
type found struct {
	refs      []Ref
	barewords []string
}

// Refs returns the references, in their order.
func (f *found) Refs() []Ref { return f.refs }

// Barewords returns the words that are read as text without being quoted.
func (f *found) Barewords() []string { return f.barewords }

// Expr is a compiled reference or call.
type Expr struct {
	found
	root node
}

// Compile compiles one expression, such as that of an extract-input. It must begin with a reference or a call. The
// error is always an *Error.
func Compile(text string) (*Expr, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	root, err := p.operand()
	if err != nil {
		return nil, err
	}
	if p.token.kind == operator {
		return nil, p.fail(p.token, "a comparison is not a value", "compare in the condition of an if step")
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return &Expr{found: p.found, root: root}, nil
}

// Eval returns the value; nil where there is none.
func (e *Expr) Eval(s Scope) any { return e.root.eval(s) }

// Condition is a compiled condition.
type Condition struct {
	found
	left     node
	operator string // "" is the truth of left alone
	right    node
}

// CompileCondition compiles a condition. It must begin with a reference or a call. The error is always an *Error.
func CompileCondition(text string) (*Condition, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	c := &Condition{}
	if c.left, err = p.operand(); err != nil {
		return nil, err
	}
	if p.token.kind == operator {
		c.operator = p.token.text
		if err := p.next(); err != nil {
			return nil, err
		}
		if c.right, err = p.operand(); err != nil {
			return nil, err
		}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	c.found = p.found
	return c, nil
}

// Eval returns whether the condition holds.
func (c *Condition) Eval(s Scope) bool {
	left := c.left.eval(s)
	if c.operator == "" {
		return truth(left)
	}
	return compare(left, c.operator, c.right.eval(s))
}
