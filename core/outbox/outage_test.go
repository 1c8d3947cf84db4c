package outbox_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/outbox"
)

// down is a platform that takes no posts until it is opened.
type down struct {
	reader
	mu    sync.Mutex
	open  bool
	tries int
}

func (p *down) Post(ctx context.Context, d core.Delivery) (core.Ref, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open {
		return p.reader.Post(ctx, d)
	}
	p.tries++
	return "", false, core.Errorf(core.DeliveryLater, "A proxy refuses the call.")
}

func (p *down) tried() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tries
}

// While a platform takes no posts, only a few are tried, and gatehouse is not ready. Once it takes them again, all of
// them are there within seconds.
func TestFirstSuccessEndsAnOutage(t *testing.T) {
	const conversations = 120
	var log bytes.Buffer
	var p *down
	o := newOffice(t, true, func(opt *outbox.Options) {
		p = &down{reader: opt.Platforms[0].(reader)}
		opt.Platforms = []core.Platform{p}
		logged(&log)(opt)
		opt.Jitter = nil
	})
	var posts []core.Post
	for i := range conversations {
		posts = append(posts, core.Post{Key: fmt.Sprint(i), To: core.Address{Channel: fmt.Sprint(i)}})
	}
	o.put(posts...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- o.box.Run(ctx) }()
	until(t, func() bool { return o.box.Health("board") != nil })
	before := p.tried()
	until(t, func() bool { return p.tried() > before+3 }) // some are tried again and again
	p.mu.Lock()
	if p.tries > 2*conversations {
		t.Errorf("%d tries", p.tries)
	}
	p.open = true
	p.mu.Unlock()
	opened := time.Now()
	until(t, func() bool { return len(o.board.seen()) == conversations })
	if late := time.Since(opened); late > 10*time.Second {
		t.Errorf("the last post came %s after the outage", late)
	}
	until(t, func() bool { return o.box.Health("board") == nil })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d errors are logged:\n%s", n, &log)
	}
}

// A platform that asks for a month is asked again after a quarter of an hour, and it is said, counted and listed.
func TestWaitThatAPlatformAsksForIsBounded(t *testing.T) {
	const month = 720 * time.Hour
	for name, category := range map[string]core.Category{
		"the platform asks": core.DeliveryLater, "our own limit of it": core.DeliveryNotYet,
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			o := newOffice(t, true, logged(&log))
			o.board.script["a.0"] = []error{
				&core.Error{Category: category, Message: "The board asks to wait.", RetryAfter: month},
			}
			o.put(core.Post{Key: "a"})
			o.flush()
			row := o.row("a")
			if wait := row.NextAt.Sub(o.now()); wait > 15*time.Minute || wait < 14*time.Minute {
				t.Errorf("it waits for %s", wait)
			}
			if !strings.Contains(row.Cause, "The board asks to wait") ||
				!strings.Contains(log.String(), "post delayed") {
				t.Errorf("the cause is %q, the log says\n%s", row.Cause, &log)
			}
			if n := o.box.Counts()["board"][outbox.AskedToWait]; n != 1 {
				t.Errorf("it is counted %d times", n)
			}
			if o.pass("a"); o.row("a").State != core.RowSent {
				t.Errorf("%+v", o.row("a"))
			}
		})
	}
}
