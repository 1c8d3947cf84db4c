package policy

import (
	"reflect"

	"github.com/expr-lang/expr/ast"
)

// expr reads a key that is not there as nil, compares anything with anything by ==, and lets integers overflow: an absent or odd argument
// could make a condition true. So every access to an argument, and every operator that would take a wrong operand, becomes a call of a
// function that fails instead. What says explicitly that a value may be absent (a ?? b, a?.b, "key" in a, a comparison with nil, get) is
// left as it is.

// absences notes the accesses whose value may be absent: what is left of ??, and what is left of ?. .
type absences struct{ may map[ast.Node]bool }

// Visit looks at one node.
func (a *absences) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BinaryNode:
		if n.Operator == "??" {
			a.may[unchained(n.Left)] = true
		}
	case *ast.MemberNode:
		if n.Optional {
			a.may[unchained(n.Node)] = true
		}
	}
}

// unchained is the node inside a chain of optional accesses.
func unchained(node ast.Node) ast.Node {
	for {
		chain, ok := node.(*ast.ChainNode)
		if !ok {
			return node
		}
		node = chain.Node
	}
}

// strict replaces nodes by calls of the functions in operands.go.
type strict struct{ lenient map[ast.Node]bool }

// Visit replaces one node, after those below it.
func (s *strict) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.MemberNode:
		switch {
		case n.Optional || n.Method || !isMapOrAny(n.Node.Type()):
		case s.lenient[n]:
			s.call(node, "$peek", n.Node, n.Property)
		default:
			s.call(node, "$get", n.Node, n.Property, &ast.StringNode{Value: short(n.String())})
		}
	case *ast.BinaryNode:
		s.operator(node, n)
	case *ast.BuiltinNode:
		if n.Name == "sum" { // it would overflow
			items := n.Arguments[0]
			if len(n.Arguments) > 1 {
				items = &ast.BuiltinNode{Name: "map", Arguments: n.Arguments}
			}
			s.call(node, "$sum", items)
		}
	}
}

func (s *strict) operator(node *ast.Node, n *ast.BinaryNode) {
	absent := func(operand ast.Node) ast.Node { return &ast.BoolNode{Value: mayBeNil(operand)} }
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
	case "+", "-", "*":
		s.call(node, "$calculate", &ast.StringNode{Value: n.Operator}, n.Left, n.Right)
	}
}

// call replaces a node by a call of a function.
func (s *strict) call(node *ast.Node, name string, arguments ...ast.Node) {
	ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: arguments})
}

// mayBeNil reports whether an expression says explicitly that its value may be nil.
func mayBeNil(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.NilNode, *ast.ChainNode:
		return true
	case *ast.MemberNode:
		return n.Optional
	case *ast.BinaryNode:
		return n.Operator == "??"
	case *ast.ConditionalNode:
		return mayBeNil(n.Exp1) || mayBeNil(n.Exp2)
	case *ast.BuiltinNode:
		return n.Name == "get" || n.Name == "find" || n.Name == "findLast" || n.Name == "first" || n.Name == "last"
	case *ast.IdentifierNode: // declared with let
		return true
	}
	return false
}
