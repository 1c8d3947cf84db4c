// Package snowflake makes and reads Discord's ids: numbers whose upper bits are their creation time.
package snowflake

import (
	"math/rand/v2"
	"strconv"
	"time"
)

// epoch is Discord's: the first second of 2015, in milliseconds.
const epoch = 1420070400000

// Generator makes ids. Those of one generator differ from those of another by the worker's bits.
type Generator struct {
	worker uint64
	last   uint64
	all    map[uint64]bool
}

// NewGenerator makes a generator.
func NewGenerator() *Generator {
	return &Generator{worker: rand.Uint64N(1 << 10), all: map[uint64]bool{}}
}

// Next returns a new id for a time; it is greater than all earlier ones.
func (m *Generator) Next(now time.Time) string {
	id := uint64(max(0, now.UnixMilli()-epoch))<<22 | m.worker<<12
	if id <= m.last {
		id = m.last + 1
	}
	m.last = id
	m.all[id] = true
	return strconv.FormatUint(id, 10)
}

// Made reports whether an id comes from this generator.
func (m *Generator) Made(id string) bool { return m.all[Number(id)] }

// Time returns when an id was made; the zero time for an invalid id.
func Time(id string) time.Time {
	n := Number(id)
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(n>>22) + epoch)
}

// Number reads an id; an invalid one counts as 0.
func Number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
