package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"gatehouse/core/strictyaml"
)

// The variables whose words the policy knows. groups is a list of them.
const (
	wordRisk     = "risk"
	wordPlatform = "requester.platform"
	wordGroups   = "requester.groups"
	wordPerson   = "requester.person"
	wordTool     = "tool"
)

// compared is a text of a condition that is compared with a variable, and how.
type compared struct {
	variable, operator, text string
	at                       ast.Node
}

// comparisons notes them.
type comparisons struct {
	origins
	all []compared
}

// Visit looks at one node.
func (c *comparisons) Visit(node *ast.Node) {
	n, is := (*node).(*ast.BinaryNode)
	if !is {
		return
	}
	for _, sides := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		name, item := c.variable(sides[0])
		isLeft, list := sides[0] == n.Left, name == wordGroups && !item
		switch n.Operator {
		case "==", "!=":
		case "in":
			if isLeft == list { // a word in the list, or a word of the list in others
				continue
			}
		default:
			if !isLeft {
				continue
			}
		}
		if name == "" {
			continue
		}
		values, _ := c.literals(sides[1])
		for _, v := range values {
			if text, is := v.(string); is {
				c.all = append(c.all, compared{name, n.Operator, text, sides[1]})
			}
		}
	}
}

// isWord reports whether a text can be what a comparison is about: one of some words, or a part of one where parts are
// compared.
func (c compared) isWord(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		switch text := c.text; c.operator {
		case "startsWith":
			return strings.HasPrefix(word, text)
		case "endsWith":
			return strings.HasSuffix(word, text)
		case "contains":
			return strings.Contains(word, text)
		case "matches":
			pattern, err := regexp.Compile(text)
			return err != nil || pattern.MatchString(word)
		case "==", "!=", "in":
			return word == text
		}
		return true
	})
}

// unknownWords are the texts that a condition compares with a variable although it never is, or has, one of them.
func (r *reader) unknownWords(c *condition, text string, in *roster) (all []mistake) {
	words := map[string][]string{wordRisk: risks, wordPlatform: r.known.Names()}
	if !in.broken {
		words[wordGroups] = in.names
	}
	for _, one := range c.said {
		known, closed := words[one.variable]
		if !closed || one.isWord(known) {
			continue
		}
		said, is, do := one.text, "is never ", strictyaml.Meant(one.text, known)
		if one.variable == wordGroups {
			name := strings.TrimPrefix(said, "group:")
			is, do = "never has ", strictyaml.Meant(name, known)+" or add it under groups"
			if r.known.Group(said) {
				do = "add a group with " + said + " under groups, and write that group's name"
			}
		}
		all = append(all, mistake{lineOf(text, one.at), one.variable + " " + is + strictyaml.Quoted(said), do})
	}
	return all
}
