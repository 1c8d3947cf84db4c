package typestate

import (
	"reflect"
	"slices"
	"strings"

	"gatehouse/core"
)

// Normalize gives evidence its normal form (§4). It is deterministic, and reports the first fault in the order of the contract's
// sections: a blank required text, an unknown status or disposition, two different rows with one id. The error (invalid) means that there
// is no evidence; a caller that checks readiness must treat it as a refusal.
func Normalize(e Evidence) (*Normalized, error) {
	c := &cleaner{}
	n := &Normalized{Schema: Schema, Kind: Kind}
	n.CallSpec = row(c, "callSpec", e.CallSpec)
	n.ToolRequests = unique(c, "toolRequests", e.ToolRequests, rows[ToolRequest](c, "toolRequests"), func(r ToolRequest) string { return r.ToolCallID })
	n.ToolResults = unique(c, "toolResults", e.ToolResults, c.toolResult, func(r Result) string { return r.ToolCallID })
	n.ToolUse = unique(c, "toolUse", e.ToolUse, c.toolUse, func(r ToolUse) string { return r.ToolCallID })
	n.ToolRender = unique(c, "toolRender", e.ToolRender, rows[ToolRender](c, "toolRender"), func(r ToolRender) string { return r.ToolCallID })
	n.ReminderQueue = unique(c, "reminderQueue", e.ReminderQueue, rows[Queue](c, "reminderQueue"), func(r Queue) string { return r.QueueID })
	n.StateViews = unique(c, "stateViews", e.StateViews, rows[StateView](c, "stateViews"), func(r StateView) string { return r.ViewID })
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

// cleaner cleans rows and keeps the first fault. strings.TrimSpace trims the same characters as the reference: Unicode's White_Space.
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

// unique cleans rows and sorts them by their key. A second row with the same key is dropped if it is equal after cleaning.
func unique[In, Out any](c *cleaner, surface string, list []In, clean func(In) Out, key func(Out) string) []Out {
	seen := map[string]Out{}
	var set []Out
	for _, raw := range list {
		row := clean(raw)
		first, twice := seen[key(row)]
		switch {
		case !twice:
			seen[key(row)] = row
			set = append(set, row)
		case !reflect.DeepEqual(first, row):
			c.fail("%s contains conflicting duplicate toolCallId: %s", surface, key(row))
		}
	}
	slices.SortFunc(set, func(a, b Out) int { return strings.Compare(key(a), key(b)) })
	return set
}

// row cleans the fields of a row, in their order: texts are trimmed and, by their tag, lower-cased; those that JSON may not omit are
// required; lists are references. at is the row's name in a fault.
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

// rows makes a cleaner of the rows of a surface.
func rows[T any](c *cleaner, surface string) func(T) T {
	return func(r T) T { return row(c, surface+"[]", r) }
}

// toolUse judges the disposition before the id, as the reference does.
func (c *cleaner) toolUse(u ToolUse) ToolUse {
	d := lower(c.required(u.Disposition, "toolUse[].disposition"))
	if !slices.Contains([]string{Consumed, Observed, Discarded}, d) {
		c.fail("toolUse[].disposition invalid: unsupported value `%s` (expected consumed|observed|discarded)", d)
	}
	return row(c, "toolUse[]", u)
}
