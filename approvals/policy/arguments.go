package policy

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"gatehouse/core/strictjson"
)

// inexact is a number that neither an int nor a float64 holds exactly. A condition that uses it fails.
type inexact struct{ text string }

// MarshalJSON fails, so that no condition gets the number by way of toJSON.
func (n inexact) MarshalJSON() ([]byte, error) { return nil, n.failure() }

func (n inexact) failure() error {
	return fmt.Errorf("the number %s can't be represented exactly", short(n.text))
}

// arguments are a call's arguments as conditions see them: integers as int where they fit, other numbers as float64.
func arguments(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return map[string]any{}, nil
	}
	v, err := strictjson.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", err)
	}
	args, ok := plain(v).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the arguments are no JSON object")
	}
	return args, nil
}

// plain is a JSON value as Go's own types.
func plain(v *strictjson.Value) any {
	switch v.Kind {
	case strictjson.Object:
		m := make(map[string]any, len(v.Members))
		for _, member := range v.Members {
			m[member.Key] = plain(member.Value)
		}
		return m
	case strictjson.Array:
		items := make([]any, len(v.Items))
		for i, item := range v.Items {
			items[i] = plain(item)
		}
		return items
	case strictjson.String:
		return v.String
	case strictjson.Number:
		return number(string(v.Number))
	case strictjson.Bool:
		return v.Bool
	}
	return nil
}

// longest is how many characters a number may have: more make it inexact, unless it is written with needless zeros.
const longest = 800

// number reads a JSON number. A fraction counts as exact if it is what its float64 is written as: 0.1 does.
func number(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > longest {
		return inexact{text}
	}
	if f == 0 { // also what is too small
		if digits, _, _ := strings.Cut(strings.ToLower(text), "e"); strings.ContainsAny(digits, "123456789") {
			return inexact{text}
		}
		return 0
	}
	given, ok := new(big.Rat).SetString(text)
	if !ok {
		return inexact{text}
	}
	if given.IsInt() && given.Num().IsInt64() {
		return int(given.Num().Int64())
	}
	shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if given.Cmp(shortest) != 0 && given.Cmp(new(big.Rat).SetFloat64(f)) != 0 {
		return inexact{text}
	}
	return f
}

// short is the beginning of a long text.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
