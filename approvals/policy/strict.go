package policy

import (
	"reflect"

	"github.com/expr-lang/expr/ast"
)

// expr reads a key that is not there as nil, compares anything with anything by ==, and lets integers overflow: an
// absent or odd argument could make a condition true. So every access to an argument, and every operator that would
// take a wrong operand, becomes a call of a function that fails instead. What says explicitly that a value may be
// absent (a ?? b, a?.b, "key" in a, a comparison with nil, get) is left as it is.

// absences notes how accesses are written, and those whose value may be absent: what is left of ??, and what is left of
// ?. .
type absences struct {
	may  map[ast.Node]bool
	text map[ast.Node]string
	lets map[string]bool // variables that are declared with such a value
}

// Visit looks at one node.
func (a absences) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if n.Operator == "??" {
			a.allow(n.Left)
		}
	case *ast.MemberNode:
		a.text[n] = short(n.String())
		if n.Optional {
			a.allow(n.Node)
		}
	case *ast.VariableDeclaratorNode:
		a.lets[n.Name] = a.lets[n.Name] || a.mayBeNil(n.Value)
	}
}

// allow notes that the value of an expression may be absent.
func (a absences) allow(node ast.Node) {
	switch n := node.(type) {
	case *ast.ChainNode:
		a.allow(n.Node)
	case *ast.MemberNode:
		a.may[n] = true
	case *ast.BinaryNode:
		if n.Operator == "??" {
			a.allow(n.Right)
		}
	case *ast.ConditionalNode:
		a.allow(n.Exp1)
		a.allow(n.Exp2)
	}
}

// strict replaces nodes by calls of the functions in operators.go.
type strict struct{ lenient absences }

// Visit replaces one node, after those below it.
func (s *strict) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.MemberNode:
		switch {
		case n.Optional || n.Method || !isMapOrAny(n.Node.Type()):
		case s.lenient.may[n]:
			s.call(node, "$peek", n.Node, n.Property)
		default:
			s.call(node, "$get", n.Node, n.Property, &ast.StringNode{Value: s.lenient.text[n]})
		}
	case *ast.BinaryNode:
		s.operator(node, n)
	case *ast.BuiltinNode:
		s.builtin(node, n)
	case *ast.UnaryNode:
		if n.Operator == "-" && isMapOrAny(n.Node.Type()) {
			s.call(node, "$calculate", &ast.StringNode{Value: "-"}, &ast.IntegerNode{}, n.Node)
		}
	}
}

// builtin replaces the functions that overflow.
func (s *strict) builtin(node *ast.Node, n *ast.BuiltinNode) {
	switch n.Name {
	case "sum":
		items := n.Arguments[0]
		if len(n.Arguments) > 1 {
			items = &ast.BuiltinNode{Name: "map", Arguments: n.Arguments}
		}
		s.call(node, "$sum", items)
	case "abs", "int":
		s.call(&n.Arguments[0], "$"+n.Name, n.Arguments[0])
	}
}

func (s *strict) operator(node *ast.Node, n *ast.BinaryNode) {
	absent := func(operand ast.Node) ast.Node { return &ast.BoolNode{Value: s.lenient.mayBeNil(operand)} }
	switch n.Operator {
	case "==", "!=":
		if isMapOrAny(n.Left.Type()) || isMapOrAny(n.Right.Type()) {
			operator := n.Operator
			s.call(node, "$equal", n.Left, n.Right, absent(n.Left), absent(n.Right))
			if operator == "!=" {
				ast.Patch(node, &ast.UnaryNode{Operator: "!", Node: *node})
			}
		}
	case "in":
		s.call(node, "$in", n.Left, n.Right, absent(n.Left), absent(n.Right))
	case "contains", "startsWith", "endsWith", "matches":
		for _, operand := range []*ast.Node{&n.Left, &n.Right} {
			if t := (*operand).Type(); t == nil || t.Kind() != reflect.String {
				s.call(operand, "$text", *operand, absent(*operand))
			}
		}
	case "+", "-", "*", "/", "**", "^":
		s.call(node, "$calculate", &ast.StringNode{Value: n.Operator}, n.Left, n.Right)
	}
}

// call replaces a node by a call of a function.
func (s *strict) call(node *ast.Node, name string, arguments ...ast.Node) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: arguments})
}

// mayBeNil reports whether an expression says explicitly that its value may be nil.
func (a absences) mayBeNil(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.NilNode, *ast.ChainNode:
		return true
	case *ast.MemberNode:
		return n.Optional
	case *ast.BinaryNode:
		return n.Operator == "??"
	case *ast.ConditionalNode:
		return a.mayBeNil(n.Exp1) || a.mayBeNil(n.Exp2)
	case *ast.BuiltinNode:
		return n.Name == "get" || n.Name == "find" || n.Name == "findLast" || n.Name == "first" || n.Name == "last"
	case *ast.IdentifierNode:
		return a.lets[n.Value]
	}
	return false
}
