package doc

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core/strictjson"
)

// Limits of what is said of an edit.
const (
	maxChanges = 5  // how many of the changed arguments are named
	maxValue   = 60 // of a value, in UTF-16 units
)

// edited says who has changed the arguments, and what each was and is: "amount: 20 → 21".
func (v *Document) edited() []Span {
	c, t := v.card, v.Texts
	who := []Span{v.person(c.Editor, c.Editor.Name)}
	changes := changedArguments(c.Before, c.Arguments, t.NoValue)
	if changes == nil {
		return filled(t.ArgumentsChanged, 0, map[string][]Span{"{person}": who})
	}
	var said []Span
	for _, change := range changes[:min(len(changes), maxChanges)] {
		said = append(said, Span{Kind: Subject, Text: change, Limit: LimitChanged}, own("; "))
	}
	if more := len(changes) - maxChanges; more > 0 {
		said = append(said, own(counted(more, t.MoreChanges, t.MoreChanges)))
	} else {
		said = said[:len(said)-1]
	}
	return filled(t.ArgumentsChanges, 0, map[string][]Span{"{person}": who, "{changes}": said})
}

// changedArguments are the members of an object that differ from those of another; nil if one of the texts is no object.
// none stands for a value that is missing.
func changedArguments(before, now, none string) (all []string) {
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
		from, to = apart(from, to)
		all = append(all, distinct(strconv.Quote(m.Key), none)+": "+short(from)+" → "+short(to))
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

// distinct is a literal without its quotes, unless it could be taken for another change, or for a value that is missing.
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
	if head, left := chat.Head(value, maxValue); left > 0 {
		return head + "…"
	}
	return value
}
