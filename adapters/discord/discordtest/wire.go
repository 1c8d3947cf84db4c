package discordtest

import (
	"crypto/rand"
	"strings"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/snowflake"
)

// object is a JSON object on the wire.
type object = map[string]any

// stamp is a time as Discord writes it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000+00:00") }

// stampOrNil is null for no time.
func stampOrNil(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return stamp(at)
}

func wordOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// secret is a word that can't be guessed.
func secret() string { return strings.ToLower(rand.Text()) }

func word(o object, key string) string {
	text, _ := o[key].(string)
	return text
}

func integer(o object, key string) int {
	n, _ := o[key].(float64)
	return int(n)
}

func truth(o object, key string) bool {
	b, _ := o[key].(bool)
	return b
}

func list(o object, key string) []object {
	var found []object
	items, _ := o[key].([]any)
	for _, item := range items {
		inner, _ := item.(object)
		found = append(found, inner)
	}
	return found
}

func words(o object, key string) []string {
	var found []string
	items, _ := o[key].([]any)
	for _, item := range items {
		if text, ok := item.(string); ok {
			found = append(found, text)
		}
	}
	return found
}

// notNil keeps an empty list from becoming null.
func notNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// number reads an id; what is none counts as 0.
func number(id string) uint64 { return snowflake.Number(id) }

func (s *Server) newID() string { return s.ids.Next(s.o.Now()) }

// SnowflakeAt is the least id that a time can have, for paging from a moment on.
func SnowflakeAt(at time.Time) string { return snowflake.At(at) }

// SnowflakeTime is when an id was made; what is no id has the zero time.
func SnowflakeTime(id string) time.Time { return snowflake.Time(id) }
