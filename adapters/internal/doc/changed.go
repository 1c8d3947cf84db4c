package doc

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Limits of what is said of an edit.
const (
	maxChanges = 5  // how many of the changed arguments are named
	maxValue   = 60 // of a value, in UTF-16 units
)

// edited says who has changed the arguments, and what each was and is: "amount: 20 → 21".
func edited(c core.Card) []Span {
	all := []Span{person(c.Editor, c.Editor.Name), own(" changed the arguments")}
	changes := changedArguments(c.Before, c.Arguments)
	for i, change := range changes[:min(len(changes), maxChanges)] {
		all = append(all, own(map[bool]string{true: ": ", false: "; "}[i == 0]), Span{Kind: Subject, Text: change, Limit: LimitChanged})
	}
	if more := len(changes) - maxChanges; more > 0 {
		return append(all, own("; and "+chat.Thousands(more)+" more"))
	}
	return append(all, own(map[bool]string{true: ".", false: ""}[changes == nil]))
}

// changedArguments are the members of an object that differ from those of another; nil if one of the texts is no object.
func changedArguments(before, now string) (all []string) {
	was, err := strictjson.Parse([]byte(before))
	is, fault := strictjson.Parse([]byte(now))
	if err != nil || fault != nil || was.Kind != strictjson.Object || is.Kind != strictjson.Object {
		return nil
	}
	add := func(key string) {
		from, to := valueText(was.Get(key), before), valueText(is.Get(key), now)
		if from != to {
			from, to = apart(from, to)
			all = append(all, distinct(strconv.Quote(key))+": "+short(from)+" → "+short(to))
		}
	}
	for _, m := range was.Members {
		add(m.Key)
	}
	for _, m := range is.Members {
		if was.Get(m.Key) == nil {
			add(m.Key)
		}
	}
	return all
}

// valueText is a value of a JSON text, written compactly.
func valueText(v *strictjson.Value, text string) string {
	if v == nil {
		return "(none)"
	}
	var b bytes.Buffer
	_ = json.Compact(&b, v.Raw([]byte(text))) // it was parsed
	return distinct(b.String())
}

// distinct is a literal without its quotes, unless it could be taken for another change, or for a value that is missing.
func distinct(literal string) string {
	if strings.ContainsAny(literal, "→;") || literal == `"(none)"` {
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
