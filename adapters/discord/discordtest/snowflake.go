package discordtest

import (
	"math/rand/v2"
	"strconv"
	"time"

	"gatehouse/adapters/internal/fakeserver"
)

// Clock is a clock that stands still until it is moved, for Options.Now.
type Clock = fakeserver.Clock

// NewClock is a clock that stands at start.
func NewClock(start time.Time) *Clock { return fakeserver.NewClock(start) }

// epoch is Discord's: the first second of 2015, in milliseconds.
const epoch = 1420070400000

// snowflakes makes ids. Those of one server differ from those of another by the worker's bits.
type snowflakes struct {
	worker uint64
	last   uint64
	all    map[uint64]bool
}

func newSnowflakes() *snowflakes {
	return &snowflakes{worker: rand.Uint64N(1 << 10), all: map[uint64]bool{}}
}

// next is a new id for a time; it is greater than all before it. The caller holds the server's lock.
func (f *snowflakes) next(now time.Time) string {
	id := snowflakeAt(now) | f.worker<<12
	if id <= f.last {
		id = f.last + 1
	}
	f.last = id
	f.all[id] = true
	return strconv.FormatUint(id, 10)
}

func snowflakeAt(at time.Time) uint64 { return uint64(max(0, at.UnixMilli()-epoch)) << 22 }

// SnowflakeAt is the least id that a time can have, for paging from a moment on.
func SnowflakeAt(at time.Time) string { return strconv.FormatUint(snowflakeAt(at), 10) }

// SnowflakeTime is when an id was made; what is no id has the zero time.
func SnowflakeTime(id string) time.Time {
	if id == "" || number(id) == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(number(id)>>22) + epoch)
}

// number reads an id; what is none counts as 0.
func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (s *Server) newID() string { return s.ids.next(s.o.Now()) }

// made says whether an id comes from here.
func (f *snowflakes) made(id string) bool { return f.all[number(id)] }
