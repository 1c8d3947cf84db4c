// Package snowflake reads Discord's ids: 64-bit numbers, written in decimal. The upper 42 bits are the creation time of
// the object, in milliseconds since the beginning of 2015. A text that is no id counts as 0.
package snowflake

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	epoch    = 1420070400000 // 2015-01-01, in milliseconds of Unix time
	timeBits = 22            // below the time
	maxLen   = 20            // digits of the greatest number
)

// Valid reports whether all of some texts are ids, and so are safe in a path and in gatehouse's ids.
func Valid(ids ...string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool {
		return id == "" || len(id) > maxLen || strings.Trim(id, "0123456789") != ""
	})
}

func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Greater reports whether id a is greater than b, that is, created later.
func Greater(a, b string) bool { return number(a) > number(b) }

// Max returns the greatest of some ids.
func Max(first string, others ...string) string {
	for _, id := range others {
		if Greater(id, first) {
			first = id
		}
	}
	return first
}

// Time returns an id's creation time.
func Time(id string) time.Time {
	return time.UnixMilli(int64(number(id)>>timeBits) + epoch) //nolint:gosec // 42 bits
}

// At returns the least id of a time.
func At(t time.Time) string {
	ms := max(0, t.UnixMilli()-epoch)
	return strconv.FormatUint(uint64(ms)<<timeBits, 10) //nolint:gosec // it is not negative
}

// Shard returns which of so many shards receives a guild's events.
func Shard(guild string, shards int) int {
	return int(number(guild) >> timeBits % uint64(shards)) //nolint:gosec // less than shards
}
