package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/adapters/console"
)

// Progress tells a person at a terminal how far something long is, from its second second on: on standard error, in a
// line that is wiped at the end. Elsewhere, and with JSON, nothing is printed.
//
// Decision, 2026-11: a library of progress bars draws many at once, with speeds and colours; one line is all that the
// commands need.
type Progress struct {
	out  io.Writer // nil: nobody looks
	what string
	done atomic.Int64
	of   int64 // 0: not known
	stop chan struct{}
	end  sync.WaitGroup
}

const (
	progressFrom  = time.Second
	progressEvery = 200 * time.Millisecond
	barWidth      = 24
)

// Progress begins a progress of so many parts; 0: not known. End ends it.
func (a *App) Progress(json JSONFlag, what string, of int64) *Progress {
	p := &Progress{what: what, of: of, stop: make(chan struct{})}
	if json.JSON || !console.CanDraw(a.Err) {
		return p
	}
	p.out = a.Err
	p.end.Go(p.draw)
	return p
}

// Done says how many parts are done.
func (p *Progress) Done(parts int64) { p.done.Store(parts) }

// End wipes the line.
func (p *Progress) End() {
	close(p.stop)
	p.end.Wait()
}

func (p *Progress) draw() {
	began, tick := time.Now(), time.NewTicker(progressEvery)
	defer tick.Stop()
	for drawn := false; ; {
		select {
		case <-p.stop:
			if drawn {
				fmt.Fprint(p.out, "\r\x1b[K")
			}
			return
		case now := <-tick.C:
			if took := now.Sub(began); took >= progressFrom {
				fmt.Fprintf(p.out, "\r\x1b[K%s", p.line(took))
				drawn = true
			}
		}
	}
}

// line is what a person reads, such as "Checking the audit log ██████░░░░ 61 %, 4 s".
func (p *Progress) line(took time.Duration) string {
	text := fmt.Sprintf("%s… %d s", p.what, int(took.Seconds()))
	if p.of <= 0 {
		return text
	}
	done := min(p.done.Load(), p.of)
	full := int(done * barWidth / p.of)
	return fmt.Sprintf("%s %s%s %d %%, %d s", p.what, strings.Repeat("█", full), strings.Repeat("░", barWidth-full),
		done*100/p.of, int(took.Seconds()))
}
