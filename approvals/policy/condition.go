package policy

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"gatehouse/core/strictyaml"
)

// operands are the variables of conditions.
type operands struct {
	Args         map[string]any `expr:"args"`
	Tool         string         `expr:"tool"`
	Risk         string         `expr:"risk"`
	Requester    requester      `expr:"requester"`
	Conversation string         `expr:"conversation"`
	Annotations  annotations    `expr:"annotations"`
}

// annotations are what a server says of a tool, in the words of MCP. What it does not say is the worst.
type annotations struct {
	ReadOnly    bool `expr:"readOnly"`
	Destructive bool `expr:"destructive"`
	Idempotent  bool `expr:"idempotent"`
}

type requester struct {
	ID       string   `expr:"id"`
	Platform string   `expr:"platform"`
	Person   string   `expr:"person"` // "" = in no entry of people
	Groups   []string `expr:"groups"` // names of the policy's groups
}

var (
	variables = []string{"args", "tool", "risk", "requester", "conversation", "annotations"}
	fields    = []string{"id", "platform", "person", "groups"}
)

// The bounds of a condition: the length of its text, which also bounds how deep the parser recurses, and what one
// evaluation may allocate, in expr's units.
const (
	maxCondition = 4096
	memoryBudget = 1_000_000
)

// condition is a compiled expression.
type condition struct {
	program *vm.Program
	args    bool // it uses the arguments
	groups  bool // it uses the requester's groups, or may
	hints   bool // it uses annotations
	asker   bool // it uses the requester
	fixed   bool // it uses nothing, so that it is always the same

	tree ast.Node
	from origins
	said []compared // the texts that it compares variables with
}

// mistake is what is wrong with an expression. line is that of the text, from 0; do is "" where nothing more is known
// than what it says.
type mistake struct {
	line     int
	what, do string
}

func wrong(format string, args ...any) []mistake {
	return []mistake{{what: fmt.Sprintf(format, args...)}}
}

// compile checks an expression and compiles it. It has no condition if there are mistakes: all unknown variables, or
// another one.
func compile(text string) (c *condition, mistakes []mistake) {
	defer func() {
		if p := recover(); p != nil {
			c, mistakes = nil, wrong("the expression can't be compiled: %v", p)
		}
	}()
	switch {
	case strings.TrimSpace(text) == "":
		return nil, wrong("the expression is empty")
	case len(text) > maxCondition:
		return nil, wrong("the expression is longer than %d characters", maxCondition)
	}
	common := []expr.Option{expr.Env(operands{}), expr.Optimize(false), expr.DisableBuiltin("now")}
	uses := &mentions{}
	// for errors that people understand
	written, err := expr.Compile(text, append(slices.Clone(common), expr.AsBool(), expr.Patch(uses))...)
	if unknown := uses.unknown(text); len(unknown) > 0 {
		return nil, unknown
	}
	if err != nil {
		return nil, explained(err)
	}
	if what := notBool(written.Node()); what != "" {
		return nil, wrong("the expression is no bool but %s", what)
	}
	lenient := absences{map[ast.Node]bool{}, map[ast.Node]string{}, map[string]bool{}}
	program, err := expr.Compile(text,
		append(append(common, strictFunctions()...), expr.Patch(lenient), expr.Patch(&strict{lenient}))...)
	if err != nil {
		return nil, explained(err)
	}
	c = &condition{
		program: program, args: uses.args, hints: uses.hints, fixed: len(uses.names) == 0,
		groups: uses.requester > uses.known, asker: uses.requester > 0,
		tree: written.Node(), from: origins{map[ast.Node]ast.Node{}, map[string]ast.Node{}},
	}
	ast.Walk(&c.tree, c.from)
	found := &comparisons{origins: c.from}
	ast.Walk(&c.tree, found)
	c.said = found.all
	return c, nil
}

// notBool returns what an expression is that can't be a bool although its type is not known; "" if it can.
func notBool(n ast.Node) string {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "-" || n.Operator == "+" {
			return "a number"
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "+", "-", "*", "/", "%", "**", "^":
			return "a number or a text"
		case "..":
			return "a list"
		case "??":
			return notBool(n.Right)
		}
	case *ast.IntegerNode, *ast.FloatNode:
		return "a number"
	case *ast.StringNode:
		return "a text"
	case *ast.ConditionalNode:
		return cmp.Or(notBool(n.Exp1), notBool(n.Exp2))
	}
	return ""
}

var (
	unknownName  = regexp.MustCompile(`^unknown name (\S+)`)
	unknownField = regexp.MustCompile(`^type policy\.(\w+) has no (?:field|method) (\S+)`)
	noBool       = regexp.MustCompile(`^expected bool, but got (.+)`)
	ourTypes     = regexp.MustCompile(`policy\.(\w+)`)
)

// explained is the compiler's error in the policy's words.
func explained(err error) []mistake {
	var located *file.Error
	if !errors.As(err, &located) {
		text, _, _ := strings.Cut(err.Error(), "\n")
		if m := noBool.FindStringSubmatch(text); m != nil {
			return wrong("the expression is no bool but %s", typeName(m[1]))
		}
		return wrong("%s", text)
	}
	text, _, _ := strings.Cut(located.Message, "\n")
	found := mistake{line: max(located.Line-1, 0)}
	if m := unknownName.FindStringSubmatch(text); m != nil { // one that is declared elsewhere
		found.what, found.do = "unknown variable "+m[1], strictyaml.Meant(m[1], variables)
	} else if m := unknownField.FindStringSubmatch(text); m != nil {
		found.what, found.do = m[1]+" has no "+m[2], strictyaml.Meant(m[2], fields)
	} else if m := noBool.FindStringSubmatch(text); m != nil {
		found.what = "the expression is no bool but " + typeName(m[1])
	} else {
		found.what = ourTypes.ReplaceAllString(text, "$1")
	}
	return []mistake{found}
}

// typeName names a type of Go as the policy's readers know it.
func typeName(name string) string {
	switch {
	case strings.HasPrefix(name, "map["):
		return "an object"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case strings.HasPrefix(name, "policy."):
		return "an object"
	case name == "nil":
		return "nil"
	}
	return "of type " + name
}

// holds evaluates the condition. An error means that it failed; then it is neither true nor false. argsErr is why there
// are no arguments.
func (c *condition) holds(f operands, argsErr error) (yes bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			yes, err = false, fmt.Errorf("the evaluation failed: %v", p)
		}
	}()
	if c.args && argsErr != nil {
		return false, argsErr
	}
	machine := vm.VM{MemoryBudget: memoryBudget}
	result, err := machine.Run(c.program, f)
	if err != nil {
		var located *file.Error
		if errors.As(err, &located) {
			err = errors.New(readable(located.Message))
		}
		return false, err
	}
	yes, ok := result.(bool)
	if !ok {
		return false, fmt.Errorf("the result is %s, no bool", kindOf(result))
	}
	return yes, nil
}

// readable is the first line of a failure, in the policy's words.
func readable(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	text = strings.TrimPrefix(text, "interface conversion: ")
	return short200(strings.ReplaceAll(text, "interface {}", "value"))
}

func short200(text string) string {
	const most = 200
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// mentions notes which variables an expression uses.
type mentions struct {
	args, hints      bool
	requester, known int // how often requester occurs, and how often as one of its fields that is not groups
	names            []*ast.IdentifierNode
	declared         []string
}

// Visit looks at one node.
func (m *mentions) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		switch m.names = append(m.names, n); n.Value {
		case "args":
			m.args = true
		case "annotations":
			m.hints = true
		case "requester":
			m.requester++
		}
	case *ast.VariableDeclaratorNode:
		m.declared = append(m.declared, n.Name)
	case *ast.MemberNode:
		of, isName := n.Node.(*ast.IdentifierNode)
		field, isConstant := n.Property.(*ast.StringNode)
		if isName && of.Value == "requester" && isConstant && field.Value != "groups" {
			m.known++
		}
	}
}

// unknown are the names that are no variables, each once, at the line of the text where it occurs first.
func (m *mentions) unknown(text string) (all []mistake) {
	known := slices.Concat(variables, m.declared)
	for _, n := range m.names {
		if slices.Contains(known, n.Value) {
			continue
		}
		known = append(known, n.Value)
		all = append(all, mistake{lineOf(text, n), "unknown variable " + n.Value, strictyaml.Meant(n.Value, variables)})
	}
	return all
}

// lineOf is the line of the text where a node is, from 0.
func lineOf(text string, n ast.Node) int {
	return strings.Count(string([]rune(text)[:n.Location().From]), "\n")
}

// isMapOrAny reports whether a value of this type may lack a key or be too short: an object, or something of which
// nothing is known.
func isMapOrAny(t reflect.Type) bool {
	return t == nil || t.Kind() == reflect.Map || t.Kind() == reflect.Interface
}
