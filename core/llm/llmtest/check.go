package llmtest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gatehouse/core/strictjson"
)

// checker collects what is wrong with a request. Paths are those of the vendors' own errors:
// messages[2].tool_calls[0].id.
type checker struct{ faults []string }

func (c *checker) fault(path, format string, args ...any) {
	c.faults = append(c.faults, strings.TrimPrefix(path+": ", ": ")+fmt.Sprintf(format, args...))
}

func (c *checker) text() string { return strings.Join(c.faults, "; ") }

// object requires an object with these fields and no others. A field whose name ends in "!" is required.
func (c *checker) object(path string, v *strictjson.Value, fields ...string) bool {
	if v == nil || v.Kind != strictjson.Object {
		c.fault(path, "must be an object")
		return false
	}
	for _, m := range v.Members {
		if !slices.Contains(fields, m.Key) && !slices.Contains(fields, m.Key+"!") {
			c.fault(path, "unknown field %q", m.Key)
		}
	}
	for _, f := range fields {
		if name, required := strings.CutSuffix(f, "!"); required && v.Get(name) == nil {
			c.fault(path, "missing required field %q", name)
		}
	}
	return true
}

// list gives the items of a list, which must have at least least.
func (c *checker) list(path string, v *strictjson.Value, least int) []*strictjson.Value {
	if v == nil || v.Kind != strictjson.Array || len(v.Items) < least {
		c.fault(path, "must be a list of at least %d", least)
		return nil
	}
	return v.Items
}

// checkDialect requires that a schema has no words of drafts before 2020-12, as far as these are common.
func checkDialect(c *checker, path string, v *strictjson.Value) {
	if draft := v.Get("$schema"); draft != nil && !strings.Contains(draft.String, "2020-12") {
		c.fault(path, "JSON schema must be of draft 2020-12, not %s", draft.String)
	}
	for _, m := range properties(v) {
		if items := m.Value.Get("items"); items != nil && items.Kind == strictjson.Array {
			c.fault(path+".properties."+m.Key, "items must not be a list")
		}
		if limit := m.Value.Get("exclusiveMinimum"); limit != nil && limit.Kind != strictjson.Number {
			c.fault(path+".properties."+m.Key, "exclusiveMinimum must be a number")
		}
	}
}

// properties are the arguments that a schema has.
func properties(schema *strictjson.Value) []strictjson.Member {
	if p := schema.Get("properties"); p != nil {
		return p.Members
	}
	return nil
}

// str gives a text that is one of these, if there are any, and not empty.
func (c *checker) str(path string, v *strictjson.Value, of ...string) string {
	switch {
	case v == nil || v.Kind != strictjson.String:
		c.fault(path, "must be a text")
		return ""
	case len(of) > 0 && !slices.Contains(of, v.String):
		c.fault(path, "%q is none of %v", v.String, of)
	case len(of) == 0 && v.String == "":
		c.fault(path, "must not be empty")
	}
	return v.String
}

// number requires a number within bounds, if v is there.
func (c *checker) number(path string, v *strictjson.Value, least, most float64) {
	if v == nil {
		return
	}
	f, err := v.Number.Float64()
	if v.Kind != strictjson.Number || err != nil || f < least || f > most {
		c.fault(path, "must be a number between %v and %v", least, most)
	}
}

// whole requires a whole number of at least least, if v is there.
func (c *checker) whole(path string, v *strictjson.Value, least int64) {
	if v == nil {
		return
	}
	n, err := v.Number.Int64()
	if v.Kind != strictjson.Number || err != nil || n < least {
		c.fault(path, "must be a whole number of at least %d", least)
	}
}

var anyNumber = math.Inf(1)

func at(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
