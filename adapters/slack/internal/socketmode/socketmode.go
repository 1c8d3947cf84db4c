// Package socketmode keeps a Socket Mode connection to Slack open and passes the received envelopes to a handler.
//
// There is one connection. While it is replaced there are two, and both are read. Slack announces most closes
// (refresh_requested, warning), so the next connection is open before the old one is closed. Envelopes of one channel
// are handled in the order in which they arrive, those of different channels in parallel. Interactions and commands
// don't wait for a channel. An envelope is acknowledged once Receive returns ack. Slack sends an event that is not
// acknowledged again, over this connection or another one. An interaction or a command it sends only once, and shows
// the person an error if that is not acknowledged.
//
// The loop is our own, with slack-go's structs for requests and responses. slack-go's client decodes each event before
// it could be stored, drops a whole event because of one field that it does not know, and closes the old connection
// before it has a new one.
package socketmode

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/retry"
)

// Times between connections.
const (
	CrowdedWait = 90 * time.Second // after Slack reported that the app has too many connections
	RefusedWait = 10 * time.Second // after Slack refused a token that it has accepted before
	GraceTime   = 30 * time.Second // how long an old connection is read in parallel with the new one
	steady      = time.Minute      // after a connection that lasted this long, the next one is opened at once
)

// maxRefusals is how often in a row a token must be refused that was accepted before, until RefusesToken is asked.
const maxRefusals = 3

// MaxConnections is Slack's limit for one app, across all its processes.
const MaxConnections = 10

// App is the app whose events come over a connection.
type App interface {
	// OpenSocket asks Slack for the address of a new connection, which is valid for one use. An error of category
	// unsupported ends Run, and so does one of category unauthorized before the first connection. Later such an error
	// may be a fault of Slack's that passes: it ends Run only if it comes several times in a row, and RefusesToken
	// agrees.
	OpenSocket(ctx context.Context) (address string, err error)
	// RefusesToken asks Slack in another way whether it refuses the token.
	RefusesToken(ctx context.Context) bool
	// Receive handles the payload of an envelope. The response is sent with the acknowledgement. ack is false if the
	// payload was not stored.
	Receive(ctx context.Context, kind string, payload []byte) (response any, ack bool)
	// Sleep returns after a wait, or when ctx ends.
	Sleep(ctx context.Context, wait time.Duration)
	// Jitter returns a random part of a wait.
	Jitter(wait time.Duration) time.Duration
	// Join tells the other processes of this gatehouse that this one has a connection of the app.
	Join(ctx context.Context)
	// Others counts the other processes of this gatehouse that have told so.
	Others(ctx context.Context) int
	// SocketUp is called when a connection is open and none was before; away is how long none was, 0 the first time.
	SocketUp(away time.Duration)
}

// Client keeps a connection open. Log must be set.
type Client struct {
	Log *slog.Logger

	app  App
	mu   sync.Mutex
	open int       // how many connections are open
	ever int64     // how many were opened
	lost time.Time // when the last one of them ended, and none was left; zero: that was never so
	last time.Time // when one ended
	why  error     // why the last attempt to open one failed; nil: it did not
}

// opened and closed count the open connections.
func (c *Client) opened() {
	c.mu.Lock()
	c.open++
	c.ever++
	first, lost := c.open == 1, c.lost
	c.mu.Unlock()
	switch {
	case !first:
	case lost.IsZero():
		c.app.SocketUp(0)
	default:
		c.app.SocketUp(time.Since(lost))
	}
}

// Opened is how many connections were opened.
func (c *Client) Opened() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ever
}

func (c *Client) closed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = time.Now()
	if c.open--; c.open == 0 {
		c.lost = c.last
	}
}

// Run keeps a connection of an app open until ctx ends. Error: a permanent failure, of category unauthorized or
// unsupported.
func (c *Client) Run(ctx context.Context, app App) error {
	c.app = app
	var running sync.WaitGroup
	defer running.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop() // all connections end with Run
	log := retry.NewLog(c.Log, "opening a Socket Mode connection")
	backoff, refusals := outbound.FirstRetry, 0
	pause := func(atLeast time.Duration) {
		c.app.Sleep(ctx, max(c.app.Jitter(backoff), atLeast))
		backoff = min(2*backoff, outbound.MaxRetry)
	}
	var current, previous *conn // the newest one, and the one that it replaced
	connected := false          // at least once
	for ctx.Err() == nil {
		switch {
		case current != nil && current.ctx.Err() != nil:
			// the older one may be the only one left: it is read until the next one is open
			current = previous
		case previous != nil:
			previous.close() // so that there are never more than two
		}
		previous = current
		k, err := c.dial(ctx)
		if ctx.Err() != nil {
			if k != nil {
				k.end()
			}
			return nil
		}
		log.Report(err)
		c.failed(err)
		wait := core.RetryAfterOf(err)
		if core.CategoryOf(err) == core.Unauthorized {
			refusals, wait = refusals+1, RefusedWait
		} else {
			refusals = 0
		}
		switch {
		case err == nil:
			connected = true
		case core.CategoryOf(err) == core.Unsupported, refusals > 0 && !connected,
			refusals >= maxRefusals && c.app.RefusesToken(ctx):
			return err
		default:
			pause(wait)
			current, previous = previous, nil
			continue
		}
		if old := previous; old != nil {
			running.Go(old.retire)
		}
		current = k
		began := time.Now()
		running.Go(func() { k.run(ctx) })
		<-k.replaced.Done()
		reason := context.Cause(k.replaced)
		switch {
		case ctx.Err() != nil:
			return nil
		case core.CategoryOf(reason) == core.Unsupported:
			return reason
		case core.RetryAfterOf(reason) > 0:
			c.app.Sleep(ctx, core.RetryAfterOf(reason))
		}
		if time.Since(began) >= steady {
			backoff = outbound.FirstRetry
		} else {
			pause(0) // if a connection closes at once, don't open the next one at once
		}
	}
	return nil
}

// failed records the result of an attempt to open a connection.
func (c *Client) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.why = err
}

// Err returns nil while a connection is open, else the reason why none is (law 9).
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open > 0 {
		return nil
	}
	why := "No Socket Mode connection to Slack is open, so no event arrives. " + core.MessageOf(c.why)
	return core.Wrap(core.DeliveryLater, c.why, "%s", strings.TrimSpace(why))
}

// count warns if Slack counts more connections of this app than the processes that share it have, of which each has
// two while it replaces one. One of ours that broke may still be counted.
func (c *Client) count(ctx context.Context, all int) {
	c.app.Join(ctx)
	c.mu.Lock()
	ours := c.open + 1
	if !c.last.IsZero() && time.Since(c.last) < GraceTime {
		ours++
	}
	c.mu.Unlock()
	if all <= ours {
		return
	}
	if others := c.app.Others(ctx); all > ours+2*others {
		c.Log.Warn("Slack counts more Socket Mode connections of this app than gatehouse has: another program, or "+
			"a gatehouse with another database, uses the same SLACK_APP_TOKEN. Slack gives each event and each click "+
			"to one of them at random, so a part of them never arrives here. Stop the other one, or give it an app "+
			"of its own. (If one has just stopped, Slack may still count its connection.)",
			"connections", all, "ours", ours, "processes", others+1)
	}
}
