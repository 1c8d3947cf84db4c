package hrf

import (
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// object reads the members of one object, whose names are known.
type object struct {
	*reader
	*node
	name                   string // of the object in messages
	names                  []string
	unknown, missing, kind rule // the rules that its shape can break
}

// checkNames reports the members that the shape does not have.
func (o object) checkNames() {
	for _, m := range o.Members {
		if !slices.Contains(o.names, m.Key) {
			o.failAt(o.keyPlace(m), o.unknown, suggest(m.Key, o.names, "known: "+strings.Join(o.names, ", ")),
				"unknown property %s of %s", quote(m.Key), o.name)
		}
	}
}

// required returns a member of a kind. It reports one that is missing or of another kind, and returns nil for it. A
// member whose name is only misspelt is not reported as missing: checkNames says what it should be called.
func (o object) required(key string, kind strictjson.Kind) *node {
	n := o.get(key)
	if n == nil && !o.misspelt(key) {
		o.fail(o.node, o.missing, "", "%s lacks %s", o.name, key)
	}
	return o.ofKind(n, key, kind)
}

// optional returns a member of a kind; nil if it is missing. One of another kind is reported, and nil returned.
func (o object) optional(key string, kind strictjson.Kind) *node {
	return o.ofKind(o.get(key), key, kind)
}

// nullable is an optional text, and a member that is null counts as missing.
func (o object) nullable(key string) *node {
	n := o.get(key)
	if n.is(strictjson.Null) {
		return nil
	}
	return o.ofKind(n, key, strictjson.String)
}

func (o object) ofKind(n *node, key string, kind strictjson.Kind) *node {
	if n != nil && n.Kind != kind {
		o.fail(n, o.kind, "", "%s must be %s, not %s", key, article(kind), article(n.Kind))
		return nil
	}
	return n
}

func (o object) misspelt(key string) bool {
	return slices.ContainsFunc(o.Members, func(m strictjson.Member) bool {
		return likeness(m.Key) == likeness(key) && !slices.Contains(o.names, m.Key)
	})
}

// absent reports whether a member is missing or null, and not misspelt.
func (o object) absent(key string) bool {
	n := o.get(key)
	return (n == nil || n.is(strictjson.Null)) && !o.misspelt(key)
}
