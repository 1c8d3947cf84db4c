// Package wire reads and writes the JSON of Discord's API.
package wire

import (
	"crypto/rand"
	"strings"
	"time"
)

// Object is a JSON object on the wire.
type Object = map[string]any

// Timestamp is a time as Discord writes it.
func Timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// TimestampOrNil is null for no time.
func TimestampOrNil(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return Timestamp(at)
}

// StringOrNil is null for an empty string.
func StringOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Secret is a word that can't be guessed.
func Secret() string { return strings.ToLower(rand.Text()) }

// String is a field that is a string, "" for any other.
func String(o Object, key string) string {
	text, _ := o[key].(string)
	return text
}

// Int is a field that is a number, 0 for any other.
func Int(o Object, key string) int {
	n, _ := o[key].(float64)
	return int(n)
}

// Bool is a field that is true.
func Bool(o Object, key string) bool {
	b, _ := o[key].(bool)
	return b
}

// List is a field that is a list of objects, with nil for what is none.
func List(o Object, key string) []Object {
	var found []Object
	items, _ := o[key].([]any)
	for _, item := range items {
		inner, _ := item.(Object)
		found = append(found, inner)
	}
	return found
}

// Strings are the strings of a field that is a list.
func Strings(o Object, key string) []string {
	var found []string
	items, _ := o[key].([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			found = append(found, text)
		}
	}
	return found
}

// NotNil keeps an empty list from becoming null.
func NotNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
