package typestate

import (
	"reflect"
	"slices"
	"strings"

	"gatehouse/core"
)

// Normalize gives evidence its normal form (§4). It is deterministic, and reports the first fault in the order of the
// contract's sections: a blank required text, an unknown status or disposition, two different rows with one id. The
// error (invalid) means that there is no evidence; a caller that checks readiness must treat it as a refusal.
func Normalize(e Evidence) (*Normalized, error) {
	c := &cleaner{}
	n := &Normalized{Schema: Schema, Kind: Kind}
	n.CallSpec = row(c, "callSpec", e.CallSpec)
	n.ToolRequests = unique(c, "toolRequests", e.ToolRequests, row[ToolRequest])
	n.ToolResults = unique(c, "toolResults", e.ToolResults, (*cleaner).toolResult)
	n.ToolUse = unique(c, "toolUse", e.ToolUse, (*cleaner).toolUse)
	n.ToolRender = unique(c, "toolRender", e.ToolRender, row[ToolRender])
	n.ReminderQueue = unique(c, "reminderQueue", e.ReminderQueue, row[Queue])
	n.StateViews = unique(c, "stateViews", e.StateViews, row[StateView])
	n.ProtocolState = row(c, "protocolState", e.ProtocolState)
	if e.Handoff != nil {
		handoff := row(c, "handoff", *e.Handoff)
		n.Handoff = &handoff
	}
	n.SessionRefs, n.TrajectoryRefs = refs(e.SessionRefs), refs(e.TrajectoryRefs)
	if c.err != nil {
		return nil, c.err
	}
	n.derive()
	return n, nil
}

// cleaner cleans rows and keeps the first fault. strings.TrimSpace trims the same characters as the reference:
// Unicode's White_Space.
type cleaner struct{ err error }

func (c *cleaner) fail(format string, args ...any) {
	if c.err == nil {
		c.err = core.Errorf(core.Invalid, format, args...)
	}
}

func (c *cleaner) required(s, field string) string {
	if s = strings.TrimSpace(s); s == "" {
		c.fail("%s must be non-empty", field)
	}
	return s
}

// lower changes only ASCII letters, as the reference does; strings.ToLower would also change İ and K (the Kelvin sign).
func lower(s string) string {
	b := []byte(s)
	for i, ch := range b {
		if 'A' <= ch && ch <= 'Z' {
			b[i] = ch + 'a' - 'A'
		}
	}
	return string(b)
}

// refs is a list of references as a set: trimmed, without blanks, sorted by bytes.
func refs(list []string) []string {
	var set []string
	for _, r := range list {
		if r = strings.TrimSpace(r); r != "" {
			set = append(set, r)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// unique cleans rows and sorts them by id. A second row with the same id is dropped if it is equal after cleaning.
func unique[In any, Out interface{ id() string }](
	c *cleaner, surface string, list []In, clean func(*cleaner, string, In) Out,
) []Out {
	seen := map[string]Out{}
	var set []Out
	for _, raw := range list {
		row := clean(c, surface+"[]", raw)
		first, twice := seen[row.id()]
		switch {
		case !twice:
			seen[row.id()] = row
			set = append(set, row)
		case !reflect.DeepEqual(first, row):
			c.fail("%s contains conflicting duplicate toolCallId: %s", surface, row.id())
		}
	}
	slices.SortFunc(set, func(a, b Out) int { return strings.Compare(a.id(), b.id()) })
	return set
}

func (r ToolRequest) id() string { return r.ToolCallID }
func (r Result) id() string      { return r.ToolCallID }
func (r ToolUse) id() string     { return r.ToolCallID }
func (r ToolRender) id() string  { return r.ToolCallID }
func (r Queue) id() string       { return r.QueueID }
func (r StateView) id() string   { return r.ViewID }

// row cleans the fields of a row, in their order: texts are trimmed and, by their tag, lower-cased; those that JSON may
// not omit are required; lists are references. at is the row's name in a fault.
func row[T any](c *cleaner, at string, r T) T {
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key, optional := keyOf(f)
		switch to := v.Field(i); to.Kind() {
		case reflect.Slice:
			to.Set(reflect.ValueOf(refs(to.Interface().([]string))))
		case reflect.String:
			text := strings.TrimSpace(to.String())
			if !optional {
				text = c.required(text, at+"."+key)
			}
			if f.Tag.Get("case") == "lower" {
				text = lower(text)
			}
			to.SetString(text)
		}
	}
	return r
}

// toolUse judges the disposition before the id, as the reference does.
func (c *cleaner) toolUse(at string, u ToolUse) ToolUse {
	d := lower(c.required(u.Disposition, at+".disposition"))
	if !slices.Contains([]string{Consumed, Observed, Discarded}, d) {
		c.fail("%s.disposition invalid: unsupported value `%s` (expected consumed|observed|discarded)", at, d)
	}
	return row(c, at, u)
}
