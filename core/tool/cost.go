package tool

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxSteps is how many steps checking the arguments of one call may take. A step takes one or two microseconds at
// worst.
const maxSteps = 50_000

// tooCostly reports whether checking a value against a schema would take more than maxSteps. It goes the way that the
// validator goes, but compares nothing: a few parts that each refer to the next twice, or a long list of which each
// item has a hundred alternatives, would keep the validator busy for minutes. It also ends where a schema refers to
// itself for one and the same value.
func tooCostly(s *jsonschema.Schema, v any) bool {
	c := cost{left: maxSteps}
	c.add(s, v, 0)
	return c.left < 0
}

// cost counts down the steps of one check.
type cost struct{ left int }

// add takes the steps of a part of a schema, and of all that it leads to, for one value. chain is how many parts led to
// it for the same value; the validator looks at them all, to find circles.
func (c *cost) add(s *jsonschema.Schema, v any, chain int) {
	if s == nil || c.left < 0 {
		return
	}
	c.left -= 1 + chain/64 + ofEnum(s, v)
	for _, same := range [][]*jsonschema.Schema{
		{s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf,
	} {
		for _, one := range same {
			c.add(one, v, chain+1)
		}
	}
	if s.DynamicRef != nil {
		c.add(s.DynamicRef.Ref, v, chain+1)
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(s, v, chain)
	case []any:
		c.array(s, v)
	case json.Number:
		c.left -= ofNumber(v)
	case string:
		c.left -= ofMatch(s.Pattern, v)
		if s.Format != nil || s.MinLength != nil || s.MaxLength != nil {
			c.left -= len(v) / 256
		}
	}
}

func (c *cost) object(s *jsonschema.Schema, v map[string]any, chain int) {
	c.left -= len(s.Required) / 16
	for _, names := range s.DependentRequired {
		c.left -= 1 + len(names)/16
	}
	for _, one := range s.DependentSchemas {
		c.add(one, v, chain+1)
	}
	for _, one := range s.Dependencies {
		if part, ok := one.(*jsonschema.Schema); ok {
			c.add(part, v, chain+1)
		}
	}
	for name, value := range v {
		c.add(s.Properties[name], value, 0)
		c.add(s.PropertyNames, name, 0)
		for pattern, one := range s.PatternProperties {
			c.left -= 1 + ofMatch(pattern, name)
			c.add(one, value, 0)
		}
		c.add(part(s.AdditionalProperties), value, 0)
		c.add(s.UnevaluatedProperties, value, 0)
		if c.left < 0 {
			return
		}
	}
}

func (c *cost) array(s *jsonschema.Schema, v []any) {
	if s.UniqueItems {
		c.left -= ofUnique(v)
	}
	single, _ := s.Items.([]*jsonschema.Schema) // as older drafts write prefixItems
	for i, item := range v {
		for _, list := range [][]*jsonschema.Schema{s.PrefixItems, single} {
			if i < len(list) {
				c.add(list[i], item, 0)
			}
		}
		for _, one := range []*jsonschema.Schema{
			part(s.Items), part(s.AdditionalItems), s.Items2020, s.Contains, s.UnevaluatedItems,
		} {
			c.add(one, item, 0)
		}
		if c.left < 0 {
			return
		}
	}
}

// part gives a part of a schema that may be a boolean, too.
func part(v any) *jsonschema.Schema {
	s, _ := v.(*jsonschema.Schema)
	return s
}

// ofEnum gives the steps of comparing a value with those of an enum: only numbers, lists and objects take long.
func ofEnum(s *jsonschema.Schema, v any) int {
	if s.Enum == nil {
		return 0
	}
	switch v := v.(type) {
	case json.Number:
		return len(s.Enum.Values) * (4 + ofNumber(v))
	case []any, map[string]any:
		return values(s.Enum.Values)
	}
	return len(s.Enum.Values) / 16
}

// ofNumber gives the steps of reading a number, all of whose digits are written out for it, beyond the one of any
// value.
func ofNumber(n json.Number) int {
	_, exponent := numberParts(n)
	return (len(n) + max(exponent, -exponent)) / 50
}

// ofUnique gives the steps of finding two equal items: those of a short list are compared each with each, a longer one
// is hashed.
func ofUnique(list []any) int {
	if len(list) > 20 {
		return 2 * values(list)
	}
	return len(list) * values(list) / 2
}

// values counts a value and those in it.
func values(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, one := range v {
			n += values(one)
		}
	case []any:
		for _, one := range v {
			n += values(one)
		}
	}
	return n
}

// ofMatch gives the steps of matching a text with a pattern.
func ofMatch(p jsonschema.Regexp, text string) int {
	if one, ok := p.(*pattern); ok {
		return len(text) * one.size / 128
	}
	return 0
}
