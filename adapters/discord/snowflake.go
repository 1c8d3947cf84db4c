package discord

import (
	"strconv"
	"time"
)

// Discord's ids are snowflakes: decimal numbers of 64 bits, the time in milliseconds since the beginning of 2015 in the upper 42.
const (
	snowflakeEpoch = 1420070400000
	snowflakeShift = 22
)

// isID reports an id that can stand in a path and in one of ours.
func isID(s string) bool {
	if s == "" || len(s) > 20 {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// later reports whether id a is greater than b; what is no id is less than any.
func later(a, b string) bool { return number(a) > number(b) }

func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// before gives the id that a message would have had some time before another.
func before(id string, d time.Duration) string {
	n, back := number(id), uint64(d.Milliseconds())<<snowflakeShift
	if n <= back {
		return "0"
	}
	return strconv.FormatUint(n-back, 10)
}

// timeOfID is when what an id names was made.
func timeOfID(id string) time.Time {
	return time.UnixMilli(int64(number(id)>>snowflakeShift) + snowflakeEpoch) //nolint:gosec // 42 bits
}

// idAt gives the least id of a time.
func idAt(t time.Time) string {
	ms := t.UnixMilli() - snowflakeEpoch
	if ms <= 0 {
		return "0"
	}
	return strconv.FormatUint(uint64(ms)<<snowflakeShift, 10)
}
