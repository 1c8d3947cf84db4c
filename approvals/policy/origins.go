package policy

import (
	"github.com/expr-lang/expr/ast"
)

// isArgs reports whether a node stands for all arguments.
func (o origins) isArgs(node ast.Node) bool {
	n, is := o.value(node).(*ast.IdentifierNode)
	return is && n.Value == "args"
}

// path is the path of the argument that a node stands for, where it is written with constant keys; "" = something else.
func (o origins) path(node ast.Node) string {
	of, key := ast.Node(nil), ast.Node(nil)
	switch n := o.value(node).(type) {
	case *ast.MemberNode:
		of, key = n.Node, n.Property
	case *ast.BinaryNode:
		if n.Operator == "??" {
			return o.path(n.Left)
		}
	case *ast.BuiltinNode:
		if n.Name == "get" && len(n.Arguments) == 2 {
			of, key = n.Arguments[0], n.Arguments[1]
		}
	}
	text, constant := o.value(key).(*ast.StringNode)
	if !constant {
		return ""
	}
	if o.isArgs(of) {
		return text.Value
	}
	if above := o.path(of); above != "" {
		return above + sep + text.Value
	}
	return ""
}

// literals are the values that a node is, one of them or a list of all; known is false if it is something else, too.
func (o origins) literals(node ast.Node) (all []any, known bool) {
	switch n := o.value(node).(type) {
	case *ast.StringNode:
		return []any{n.Value}, true
	case *ast.IntegerNode:
		return []any{n.Value}, true
	case *ast.FloatNode:
		return []any{n.Value}, true
	case *ast.BoolNode:
		return []any{n.Value}, true
	case *ast.NilNode:
		return []any{nil}, true
	case *ast.UnaryNode:
		all, known = o.literals(n.Node)
		for i, v := range all {
			switch v := v.(type) {
			case int:
				all[i] = -v
			case float64:
				all[i] = -v
			default:
				known = false
			}
		}
		return all, known && n.Operator == "-"
	case *ast.BinaryNode:
		one, first := o.literals(n.Left)
		two, last := o.literals(n.Right)
		return append(one, two...), n.Operator == ".." && first && last
	case *ast.ConditionalNode:
		return o.literals(&ast.ArrayNode{Nodes: []ast.Node{n.Exp1, n.Exp2}})
	case *ast.PointerNode:
		if list := o.items[n]; list != nil && n.Name == "" {
			return o.literals(list)
		}
	case *ast.ArrayNode:
		known = true
		for _, item := range n.Nodes {
			one, is := o.literals(item)
			all, known = append(all, one...), known && is
		}
		return all, known
	}
	return nil, false
}

// origins tell where the values of a condition come from: what # and variables stand for.
type origins struct {
	items map[ast.Node]ast.Node // of each #, the list
	lets  map[string]ast.Node
}

// Visit looks at one node; those below it were looked at before.
func (o origins) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.VariableDeclaratorNode:
		o.lets[n.Name] = n.Value
	case *ast.BuiltinNode:
		if len(n.Arguments) == 2 {
			if p, is := n.Arguments[1].(*ast.PredicateNode); is {
				ast.Walk(&p.Node, within{o, n.Arguments[0]})
			}
		}
	}
}

// within notes what # stands for in a predicate; in one within it, it stands for another.
type within struct {
	origins
	list ast.Node
}

// Visit looks at one node.
func (w within) Visit(node *ast.Node) {
	if n, is := (*node).(*ast.PointerNode); is && w.items[n] == nil {
		w.items[n] = w.list
	}
}

// longestWay is how many variables are followed.
const longestWay = 20

// value is what a node stands for, without variables and chains.
func (o origins) value(node ast.Node) ast.Node {
	for range longestWay {
		switch n := node.(type) {
		case *ast.ChainNode:
			node = n.Node
		case *ast.IdentifierNode:
			if o.lets[n.Value] == nil {
				return node
			}
			node = o.lets[n.Value]
		default:
			return node
		}
	}
	return node
}

// variable is the name of what a node stands for, such as requester.platform, and whether it is an item of that list;
// "" = something else.
func (o origins) variable(node ast.Node) (name string, item bool) {
	switch n := o.value(node).(type) {
	case *ast.IdentifierNode:
		return n.Value, false
	case *ast.MemberNode:
		of, isItem := o.variable(n.Node)
		field, constant := o.value(n.Property).(*ast.StringNode)
		if constant && of == "requester" {
			return of + "." + field.Value, false
		}
		if of == wordGroups && !constant {
			return of, !isItem
		}
	case *ast.PointerNode:
		if list := o.items[n]; list != nil && n.Name == "" {
			name, _ = o.variable(list)
			return name, true
		}
	case *ast.BinaryNode:
		if n.Operator == "??" {
			return o.variable(n.Left)
		}
	}
	return "", false
}
