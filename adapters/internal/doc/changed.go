package doc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core/strictjson"
)

// Limits of what is said of an edit.
const (
	maxChanges = 5  // how many of the changed arguments are named
	maxValue   = 60 // of a value, in UTF-16 units
)

// edited says who has changed the arguments, and what each was and is: "Changed by Bob: amount 20 → 21".
func (v *Document) edited() []Span {
	who := v.person(v.card.Editor, v.card.Editor.Name)
	changes := Changes(v.card.Before, v.card.Arguments, v.NoValue)
	if changes == nil {
		return filled(v.ArgumentsChanged, 0, who)
	}
	all, between := filled(v.ArgumentsChanges, 0, who), " "
	for _, change := range changes[:min(len(changes), maxChanges)] {
		from, to := apart(change.From, change.To)
		text := change.Name + " " + short(from) + " → " + short(to)
		all = append(all, own(between), foreign(Subject, text, LimitChanged))
		between = "; "
	}
	if more := len(changes) - maxChanges; more > 0 {
		all = append(all, own(between+safetext.Counted(v.MoreChanges, more)))
	}
	return all
}

// Change is what becomes of an argument when a call's arguments are changed. Its values are written as on a card.
type Change struct{ Name, From, To string }

// Changes are the arguments that differ between two JSON objects; nil if one of the texts is none. none stands for a
// value that is missing.
func Changes(before, now, none string) (all []Change) {
	was, err := strictjson.Parse([]byte(before))
	is, fault := strictjson.Parse([]byte(now))
	if err != nil || fault != nil || was.Kind != strictjson.Object || is.Kind != strictjson.Object {
		return nil
	}
	for i, m := range slices.Concat(was.Members, is.Members) {
		from, to := valueText(was.Get(m.Key), before, none), valueText(is.Get(m.Key), now, none)
		if twice := i >= len(was.Members) && was.Get(m.Key) != nil; twice || from == to {
			continue
		}
		name := strconv.Quote(m.Key)
		if !strings.Contains(name, " ") { // it ends where the value begins
			name = distinct(name, none)
		}
		all = append(all, Change{name, from, to})
	}
	return all
}

// valueText is a value of a JSON text, written compactly.
func valueText(v *strictjson.Value, text, none string) string {
	if v == nil {
		return none
	}
	var b bytes.Buffer
	_ = json.Compact(&b, v.Raw([]byte(text))) // it was parsed
	return distinct(b.String(), none)
}

// distinct is a literal without its quotes, unless it could be taken for another change, or for a value that is
// missing.
func distinct(literal, none string) string {
	if strings.ContainsAny(literal, "→;") || strings.Trim(literal, `"`) == none {
		return literal
	}
	return bare(literal)
}

// apart leaves out what two long values begin with alike, if they would look the same otherwise.
func apart(from, to string) (string, string) {
	if short(from) != short(to) {
		return from, to
	}
	same := 0
	for i, r := range from {
		if !strings.HasPrefix(to[i:], string(r)) {
			break
		}
		same = i
	}
	return "…" + from[same:], "…" + to[same:]
}

func short(value string) string {
	if head, left := safetext.Head(value, maxValue); left > 0 {
		return head + "…"
	}
	return value
}
