package outbound

import (
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/adapters/internal/webhook"
	"gatehouse/core"
)

// Clock is a platform's own clock, by the Date of its answers and the times of the requests that it signs. Title and
// Now are needed; Log nil: nothing is logged.
//
// What has passed since an answer is measured by Now, whose readings in a process are monotonic; so it does not matter
// whether this machine's clock is right, or is set meanwhile.
type Clock struct {
	Title string
	Now   func() time.Time
	Log   *slog.Logger

	last atomic.Pointer[dated]
	off  atomic.Bool // the log says so

	mu    sync.Mutex
	stale []stale // the last requests that were signed too long ago, while none was taken; guarded by mu
}

// stale is a request that is refused although its signature is right: when it came, and how long ago it was signed.
type stale struct {
	at  time.Time
	ago time.Duration
}

// So many stale requests within so long, and no other, show that this machine's clock is off: a single one may be late,
// or a replay. What they show is forgotten after a while without another one, since replays show nothing.
const (
	staleCount  = 3
	staleWithin = time.Minute
	staleHolds  = 15 * time.Minute
)

// dated is an answer: its Date, when it came, and how far this machine's clock is certainly ahead.
type dated struct {
	date, at time.Time
	ahead    time.Duration
}

// maxOff is how far the two clocks may differ without a warning.
const maxOff = 2 * time.Second

// Answered notes an answer to a call that began at asked. One without a date, or from a cache, says nothing.
func (c *Clock) Answered(asked time.Time, h http.Header) {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil || h.Get("Age") != "" {
		return
	}
	at := c.Now()
	// The date is that of a moment between the two, in whole seconds.
	ahead := max(0, asked.Sub(date)-time.Second) + min(0, at.Sub(date))
	if last := c.last.Load(); last != nil { // it may tell more exactly how late it is at least
		now := last.date.Add(at.Sub(last.at))
		if now.After(date) && now.Before(date.Add(time.Second+at.Sub(asked))) {
			date = now
		}
	}
	c.last.Store(&dated{date, at, ahead})
	off := ahead.Abs() > maxOff
	if c.Log == nil || off == c.off.Swap(off) {
		return
	}
	if off {
		c.Log.Warn(c.difference(ahead), "ahead", ahead)
		return
	}
	c.Log.Info("this machine's clock agrees with the platform's again")
}

// Signed is webhook.Clock's.
func (c *Clock) Signed(ago time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ago.Abs() <= webhook.Window {
		c.stale = nil
		return
	}
	c.stale = append(c.stale, stale{c.Now(), ago})
	c.stale = c.stale[max(0, len(c.stale)-staleCount):]
}

// deaf is that all the requests that the platform signs are refused, because of their time.
func (c *Clock) deaf() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.stale)
	if n < staleCount || c.stale[n-1].at.Sub(c.stale[0].at) > staleWithin || c.Now().Sub(c.stale[n-1].at) > staleHolds {
		return nil
	}
	return core.Errorf(core.Invalid, "The last %d requests that %s signed were refused, and none was taken, because "+
		"of their time. %s", n, c.Title, c.difference(c.stale[n-1].ago))
}

// AtLeast notes that the platform's clock shows a time or a later one: that of a message which has just come. It is
// more exact than a Date, which is cut to whole seconds. A time that is further ahead than that says nothing.
func (c *Clock) AtLeast(t time.Time) {
	last, at := c.last.Load(), c.Now()
	if last == nil {
		return
	}
	now := last.date.Add(at.Sub(last.at))
	if t.After(now) && t.Before(now.Add(maxOff)) {
		c.last.CompareAndSwap(last, &dated{t, at, last.ahead})
	}
}

// Read is core.Health's Clock.
func (c *Clock) Read() (now time.Time, ahead time.Duration, off error) {
	off = c.deaf()
	last := c.last.Load()
	if last == nil {
		return time.Time{}, 0, off
	}
	if last.ahead.Abs() > webhook.Window {
		off = core.Errorf(core.Invalid, "%s", c.difference(last.ahead))
	}
	return last.date.Add(c.Now().Sub(last.at)), last.ahead, off
}

func (c *Clock) difference(ahead time.Duration) string {
	side := "ahead of"
	if ahead < 0 {
		side = "behind"
	}
	return "This machine's clock is " + ahead.Abs().Round(time.Second).String() + " " + side + " that of " + c.Title +
		". Set it right, and keep it right with NTP (such as chrony or systemd-timesyncd); " +
		"from " + webhook.Window.String() + " on, requests that " + c.Title + " signs are refused."
}

// Clock adds what a platform's answers say of this machine's clock.
func (r *Report) Clock(c *Clock) {
	switch now, ahead, off := c.Read(); {
	case now.IsZero():
	case off != nil:
		r.Add("clock", Fail, c.difference(ahead), "Run NTP on this machine.")
	case ahead.Abs() > maxOff:
		r.Add("clock", Warn, c.difference(ahead), "Run NTP on this machine.")
	default:
		r.Add("clock", OK, "This machine's clock agrees with that of "+r.Title+".", "")
	}
}
