package schema

import (
	"net/url"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

// place is a part of a schema that a reference can lead to.
type place struct {
	node   any
	base   string // the address that its references are relative to
	tokens []string
}

func (p place) pointer() string { return strictjson.Pointer(p.tokens...) }

// child gives what is in a list or object.
func (p place) child(token string) (place, bool) {
	next := place{base: p.base, tokens: append(p.tokens[:len(p.tokens):len(p.tokens)], token)}
	switch v := p.node.(type) {
	case map[string]any:
		next.node = v[token]
	case []any:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v) {
			next.node = v[i]
		}
	}
	return next, next.node != nil
}

// places are the parts of a schema that have addresses or names of their own.
type places struct {
	root      place
	resources map[string]place // by address
	anchors   map[string]place // by address#name; those that are there twice lead nowhere
}

// add notes a part and all those in it.
func (p *places) add(one place) {
	part, ok := one.node.(map[string]any)
	if !ok {
		return
	}
	outer := one.base
	if one.base = baseOf(part, outer); one.base != outer {
		p.resources[one.base] = one
	}
	if p.root.node == nil {
		p.root = one
	}
	for _, key := range []string{"$anchor", "$dynamicAnchor", "$id", "id"} {
		name, _ := part[key].(string)
		if bare, ok := strings.CutPrefix(name, "#"); ok == strings.HasSuffix(key, "id") && bare != "" {
			address := one.base + "#" + bare
			if _, twice := p.anchors[address]; twice {
				one.node = nil
			}
			p.anchors[address] = one
			one.node = part
		}
	}
	for key := range part {
		below, _ := one.child(key)
		switch kinds[key] {
		case aSchema, someSchemas:
			p.add(below)
			p.addAll(below)
		case namedSchemas:
			if _, named := below.node.(map[string]any); named {
				p.addAll(below)
			}
		}
	}
}

// addAll notes the parts in a list, or by their names.
func (p *places) addAll(all place) {
	switch v := all.node.(type) {
	case []any:
		for i := range v {
			one, _ := all.child(strconv.Itoa(i))
			p.add(one)
		}
	case map[string]any:
		if kinds[all.tokens[len(all.tokens)-1]] == namedSchemas {
			for name := range v {
				one, _ := all.child(name)
				p.add(one)
			}
		}
	}
}

// baseOf gives the address of a part: its own, if it has one, or that of the part around it.
func baseOf(part map[string]any, base string) string {
	id, ok := part["$id"].(string)
	if !ok {
		id, _ = part["id"].(string)
	}
	if id == "" || id[0] == '#' {
		return base
	}
	if address, _, ok := resolve(id, base); ok {
		return address
	}
	return base
}

// resolve gives the address that a reference means, and the part of what is there.
func resolve(ref, base string) (address, fragment string, ok bool) {
	from, err := url.Parse(base)
	if err != nil {
		return "", "", false
	}
	to, err := url.Parse(ref)
	if err != nil {
		return "", "", false
	}
	if to = from.ResolveReference(to); ref == "" || ref[0] == '#' && base == "" {
		return base, to.Fragment, true
	}
	fragment, to.Fragment, to.RawFragment = to.Fragment, "", ""
	return to.String(), fragment, true
}

// find gives the part that a reference leads to. Other documents are not read. Some generators write addresses that
// mean nothing, and references from the whole schema.
func (p *places) find(ref, base string) (place, bool) {
	address, fragment, ok := resolve(ref, base)
	if !ok {
		return place{}, false
	}
	from, known := p.resources[address]
	if address == "" || !known && address == base {
		from, known = p.root, true
	}
	if found, ok := p.in(from, address, fragment); known && ok {
		return found, true
	}
	if !strings.HasPrefix(ref, "#") {
		return place{}, false
	}
	return p.in(p.root, p.root.base, fragment)
}

// in gives the part of a resource that a fragment names.
func (p *places) in(from place, address, fragment string) (place, bool) {
	if fragment != "" && fragment[0] != '/' {
		found := p.anchors[address+"#"+fragment]
		return found, found.node != nil
	}
	for _, token := range strings.Split(fragment, "/")[1:] {
		child, ok := from.child(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		if !ok {
			return place{}, false
		}
		from = child
		part, _ := from.node.(map[string]any)
		from.base = baseOf(part, from.base)
	}
	switch from.node.(type) {
	case map[string]any, bool:
		return from, true
	}
	return place{}, false
}

// maxChain is how many references may follow one another before they count as a circle.
const maxChain = 64

// circular reports whether references lead from a part to nothing but references.
func (p *places) circular(from place) bool {
	for range maxChain {
		part, _ := from.node.(map[string]any)
		ref, refers := part["$ref"].(string)
		if !refers {
			return false
		}
		next, ok := p.find(ref, from.base)
		if !ok {
			return false
		}
		from = next
	}
	return true
}
