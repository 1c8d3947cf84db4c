package retry

import (
	"math/rand/v2"
	"time"
)

// phase differs from process to process, so that those that share a database do not all ask it at the same moment.
var phase = time.Duration(rand.Int64N(int64(time.Hour)))

// UntilPoll returns how long to wait, at most interval, before looking again for work of which nobody tells. Loops of a
// process whose intervals are multiples of each other look at the same moments: to wake an idle process costs more than
// a look.
func UntilPoll(interval time.Duration) time.Duration {
	return interval - (time.Duration(time.Now().UnixNano())+phase)%interval
}
