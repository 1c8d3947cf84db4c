package tool

import (
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/core/mask"
	"gatehouse/core/strictjson"
)

// maxSaid is how long an argument may be, in bytes, for a sentence to say it whole.
const maxSaid = 100

// Says reports whether a sentence that holds the named arguments as they are says all of a call's, so that nobody need read them beside it. Each
// has to be short and on one line, must not be taken for another value (the text 5 for a number), and is one word unless the sentence quotes
// it: more words of a model could go on as the sentence's own.
func Says(args json.RawMessage, named, quoted []string) bool {
	v, err := strictjson.Parse(args)
	if err != nil || v.Kind != strictjson.Object || len(v.Members) == 0 {
		return false
	}
	return !slices.ContainsFunc(v.Members, func(m strictjson.Member) bool {
		return !slices.Contains(named, m.Key) || !sayable(m.Value, slices.Contains(quoted, m.Key))
	})
}

func sayable(v *strictjson.Value, quoted bool) bool {
	s := v.String
	switch v.Kind {
	case strictjson.Bool:
		return true
	case strictjson.Number:
		return len(v.Number) <= maxSaid
	case strictjson.String:
		words := strings.Fields(s)
		return (len(words) == 1 || quoted && len(words) > 1) && strings.Join(words, " ") == s && len(s) <= maxSaid &&
			mask.EscapeLine(s) == s && !strings.ContainsAny(s, "“”„\"'`") && !json.Valid([]byte(s))
	}
	return false
}
