package policy

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"gatehouse/core"
)

// tries collects from conditions which arguments, askers and conversations are worth trying: those that make a
// difference to them.
type tries struct {
	args    map[string][]any // by the path, its keys joined by a space that no key has
	bounded map[string]bool  // the paths that are in something that is bounded
	ids     []string         // of requesters
	people  []string         // their names
	places  []string         // conversations
	asker   bool             // the requester counts
	whole   bool             // what was collected is all that can make a difference
}

// sep is between the keys of a path.
const sep = "\x00"

// absent is the value of an argument that is not there.
type absent struct{}

// add collects what a condition compares.
func (t *tries) add(c *condition) {
	t.asker = t.asker || c.asker
	for _, one := range c.said {
		switch one.variable {
		case "requester.id":
			t.ids = append(t.ids, one.text)
		case wordPerson:
			t.people = append(t.people, one.text)
		case "conversation":
			t.places = append(t.places, one.text)
		}
	}
	ast.Walk(&c.tree, trying{t, c.from})
	t.whole = t.yesNo(c.from, c.tree) && t.whole
}

// trying visits the nodes of a condition for tries.
type trying struct {
	*tries
	from origins
}

// Visit looks at one node.
func (t trying) Visit(node *ast.Node) {
	if path := t.from.path(*node); path != "" {
		t.try(path, absent{})
	}
	n, is := (*node).(*ast.BinaryNode)
	if !is {
		return
	}
	for _, sides := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		path := t.from.path(sides[0])
		values, known := t.from.literals(sides[1])
		switch {
		case path == "" && n.Operator == "in" && sides[0] == n.Right && t.from.isArgs(sides[0]):
			for _, key := range values {
				t.try(fmt.Sprint(key), absent{}, "-", 1, true)
			}
		case path == "" || !known:
		case n.Operator == "in" && sides[0] == n.Right:
			for _, v := range values {
				t.try(path, []any{v}, []any{"-"}, map[string]any{fmt.Sprint(v): 1}, map[string]any{})
			}
		default:
			for _, v := range values {
				t.try(path, around(v)...)
			}
		}
		if strings.ContainsAny(n.Operator, "<>") {
			ast.Walk(&sides[0], bounding(t))
		}
	}
}

// bounding visits the nodes of what is compared with a bound.
type bounding trying

// Visit looks at one node.
func (b bounding) Visit(node *ast.Node) {
	if path := b.from.path(*node); path != "" {
		if last := strings.LastIndex(path, sep); last >= 0 { // what is above was looked at before, and is no number
			delete(b.bounded, path[:last])
		}
		b.bounded[path] = true
		b.try(path, 0)
	}
}

func (t *tries) try(path string, values ...any) {
	for _, v := range values {
		if !slices.ContainsFunc(t.args[path], func(known any) bool { return reflect.DeepEqual(known, v) }) {
			t.args[path] = append(t.args[path], v)
		}
	}
}

// around are values that a comparison with one tells apart, those of another kind among them, with which it fails.
func around(v any) []any {
	switch v := v.(type) {
	case int, float64: // what lies between is for between
		return []any{v, "-", nil}
	case string:
		return []any{v, v + "-", "-" + v, "-", 1, nil}
	case bool:
		return []any{v, !v, "-", nil}
	}
	return []any{v, "-"}
}

// between adds to the numbers of each argument one below, one above, and one between each two.
func (t *tries) between() {
	for path, values := range t.args {
		var all []float64
		for _, v := range values {
			if f, is := float(v); is {
				all = append(all, f)
			}
		}
		if slices.Sort(all); len(all) == 0 {
			continue
		}
		t.try(path, all[0]-1, all[len(all)-1]+1)
		for i, f := range all[1:] {
			if f != all[i] {
				t.try(path, (f+all[i])/2)
			}
		}
	}
}

// float is the number that a value is.
func float(v any) (f float64, ok bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// yesNo reports whether a condition consists of comparisons of single variables and arguments with literals alone, so
// that tries has all that makes a difference. It also tries arguments that are used as they are.
func (t *tries) yesNo(from origins, node ast.Node) bool {
	switch n := from.value(node).(type) {
	case *ast.BoolNode:
		return true
	case *ast.UnaryNode:
		return t.yesNo(from, n.Node)
	case *ast.ConditionalNode:
		one, two, three := t.yesNo(from, n.Cond), t.yesNo(from, n.Exp1), t.yesNo(from, n.Exp2)
		return one && two && three
	case *ast.SequenceNode:
		return len(n.Nodes) > 0 && t.yesNo(from, n.Nodes[len(n.Nodes)-1])
	case *ast.VariableDeclaratorNode:
		return t.yesNo(from, n.Expr)
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||":
			left, right := t.yesNo(from, n.Left), t.yesNo(from, n.Right)
			return left && right
		case "==", "!=", "<", "<=", ">", ">=", "in", "contains", "startsWith", "endsWith":
			return t.single(from, n.Left, n.Right) || t.single(from, n.Right, n.Left)
		}
	}
	if path := from.path(node); path != "" {
		t.try(path, around(true)...)
		return true
	}
	name, _ := from.variable(node)
	return strings.HasPrefix(name, "annotations.")
}

// single reports whether one node is a variable or an argument, and the other a literal.
func (t *tries) single(from origins, one, other ast.Node) bool {
	if b, is := from.value(one).(*ast.BinaryNode); is && b.Operator == "??" {
		if _, known := from.literals(b.Right); !known {
			return false
		}
	}
	name, _ := from.variable(one)
	_, known := from.literals(other)
	return known && (from.path(one) != "" || from.isArgs(one) || name != "" && name != "args")
}

// mostTries is how many calls are tried for a rule and a tool.
const mostTries = 5000

// each calls do with the arguments of every call worth trying, until it returns false. all is false if there are too
// many.
func (t *tries) each(do func(args map[string]any) bool) (all bool) {
	paths := slices.Sorted(maps.Keys(t.args)) // what is above comes first
	at := make([]int, len(paths))
	for range mostTries {
		args := map[string]any{}
		for i, path := range paths {
			put(args, strings.Split(path, sep), t.args[path][at[i]])
		}
		if !do(args) {
			return true
		}
		i := 0
		for i < len(at) && at[i]+1 == len(t.args[paths[i]]) {
			at[i] = 0
			i++
		}
		if i == len(at) {
			return true
		}
		at[i]++
	}
	return false
}

// with are the same tries, but one argument has one value.
func (t *tries) with(path string, v any) *tries {
	other := *t
	other.args = maps.Clone(t.args)
	other.args[path] = []any{v}
	return &other
}

// put sets an argument. What is above it and is no object is replaced, unless there is nothing to set.
func put(args map[string]any, path []string, v any) {
	if v == (any)(absent{}) {
		return
	}
	for _, key := range path[:len(path)-1] {
		below, is := args[key].(map[string]any)
		if !is {
			below = map[string]any{}
			args[key] = below
		}
		args = below
	}
	args[path[len(path)-1]] = v
}

// askers are people worth trying; all: nobody else makes a difference.
type askers struct {
	some []requester
	all  bool
}

// mostAskers is how many people are looked at.
const mostAskers = 1000

// worthTrying are the people whom conditions tell apart.
func (p *Policy) worthTrying(t *tries) askers {
	if !t.asker {
		return askers{[]requester{{}}, true}
	}
	var people []core.Actor
	add := func(id string, groups ...string) {
		people = append(people, core.Actor{ID: id, Local: id == core.LocalPerson, Groups: groups})
	}
	for _, platform := range p.defaults.Platforms.Names() {
		add(platform + ":-")
	}
	found := askers{all: true}
	for platform, ids := range p.platformGroups() {
		add(platform+":-", ids...)
		for _, id := range ids {
			add(platform+":-", id)
		}
		found.all = found.all && len(ids) <= 2 // otherwise there are more combinations
	}
	for _, g := range p.roster.groups {
		for _, id := range g.flat {
			if !p.defaults.Platforms.Group(id) {
				add(id)
			}
		}
	}
	for _, id := range append(slices.Collect(maps.Keys(p.roster.people)), t.ids...) {
		add(id)
	}
	if len(people) > mostAskers {
		people, found.all = people[:mostAskers], false
	}
	seen := map[string]bool{}
	for _, who := range people {
		one := p.requester(who)
		id, person := "", one.Person != ""
		if slices.Contains(t.ids, one.ID) || slices.Contains(t.people, one.Person) {
			id = one.ID
		}
		if key := fmt.Sprint(one.Platform, one.Groups, id, person); !seen[key] {
			seen[key] = true
			found.some = append(found.some, one)
		}
	}
	return found
}

// platformGroups are the groups of each platform that the policy's groups have.
func (p *Policy) platformGroups() map[string][]string {
	groups := map[string][]string{}
	for _, g := range p.roster.groups {
		for _, id := range g.flat {
			if platform := PlatformOf(id); p.defaults.Platforms.Group(id) && !slices.Contains(groups[platform], id) {
				groups[platform] = append(groups[platform], id)
			}
		}
	}
	return groups
}
