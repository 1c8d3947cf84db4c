// Package wire reads and writes the JSON of Discord's API.
package wire

import (
	"crypto/rand"
	"strings"
	"time"
)

// Object is a JSON object on the wire.
type Object = map[string]any

// Timestamp formats a time as Discord does.
func Timestamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// TimestampOrNil formats a time; the zero time is null.
func TimestampOrNil(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return Timestamp(at)
}

// StringOrNil returns a string; an empty one is null.
func StringOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Secret returns a random word.
func Secret() string { return strings.ToLower(rand.Text()) }

// String returns a field that is a string, "" for any other.
func String(o Object, key string) string {
	text, _ := o[key].(string)
	return text
}

// Int returns a field that is a number, 0 for any other.
func Int(o Object, key string) int {
	n, _ := o[key].(float64)
	return int(n)
}

// Bool reports whether a field is true.
func Bool(o Object, key string) bool {
	b, _ := o[key].(bool)
	return b
}

// List returns a field that is a list of objects; an item that is not an object is nil.
func List(o Object, key string) []Object {
	var found []Object
	items, _ := o[key].([]any)
	for _, item := range items {
		inner, _ := item.(Object)
		found = append(found, inner)
	}
	return found
}

// Strings returns the strings of a field that is a list.
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

// NotNil returns a list that is not nil, so that an empty one does not become null.
func NotNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
