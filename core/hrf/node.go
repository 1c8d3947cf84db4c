package hrf

import (
	"slices"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

// node is a value of the text and the way to it.
type node struct {
	*strictjson.Value
	parent *node
	step   string // the key or index in parent
}

// get returns the member of a key; nil if there is none.
func (n *node) get(key string) *node {
	v := n.Get(key)
	if v == nil {
		return nil
	}
	return &node{v, n, key}
}

// item returns the item at an index of an array.
func (n *node) item(i int) *node { return &node{n.Items[i], n, strconv.Itoa(i)} }

// member returns a member of an object.
func (n *node) member(m strictjson.Member) *node { return &node{m.Value, n, m.Key} }

// maxPointer is about how many bytes a pointer may have, so that a long key is not repeated in every finding below it.
// The pointers of steps are shorter.
const maxPointer = 4096

// pointer returns the RFC 6901 pointer to the value, or to the one that the steps below lead to from it. If it would be
// too long, it is that of the nearest value around.
func (n *node) pointer(below ...string) string {
	var steps []string
	for ; n.parent != nil; n = n.parent {
		steps = append(steps, n.step)
	}
	slices.Reverse(steps)
	steps = append(steps, below...)
	length := 0
	for i, step := range steps {
		if length += len(step) + 1; length > maxPointer {
			return strictjson.Pointer(steps[:i]...)
		}
	}
	return strictjson.Pointer(steps...)
}

// place returns where the value stands.
func (n *node) place() Place { return Place{n.pointer(), n.Line, n.Column} }

// keyPlace returns where the key of a member stands.
func (n *node) keyPlace(m strictjson.Member) Place {
	return Place{n.member(m).pointer(), m.Line, m.Column}
}

// is reports whether the value is there and of a kind.
func (n *node) is(kind strictjson.Kind) bool { return n != nil && n.Kind == kind }

// isBlank reports whether a text is empty or white space.
func isBlank(text string) bool { return strings.TrimSpace(text) == "" }

// isMaterial reports whether the text of an assistant-message is more than blank or the "." that leaves it to the
// model.
func isMaterial(text string) bool { return !isBlank(text) && strings.TrimSpace(text) != "." }

// article names a kind in a sentence.
func article(k strictjson.Kind) string {
	switch k {
	case strictjson.Null:
		return "null"
	case strictjson.Array, strictjson.Object:
		return "an " + string(k)
	}
	return "a " + string(k)
}
