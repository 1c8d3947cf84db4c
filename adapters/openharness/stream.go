package openharness

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
	"gatehouse/core/inflight"
)

// Numbers of streams.
const (
	heartbeat  = 15 * time.Second // or as often as the client says
	streamLook = 2 * time.Second  // how often the mailbox is read while nothing is heard
	writeTime  = 10 * time.Second
	lastMail   = 200 // how much of a mailbox a client gets that names no Last-Event-ID
	batch      = 100
	lastBytes  = 4 << 20 // of what such a client gets, and one mail more
	batchBytes = 1 << 20 // of a batch, and one mail more
	mailWeight = 4       // how many times its length the work on a batch holds
	reconnect  = 2000    // milliseconds after which a client connects again
)

// stream sends what is said in a session as server-sent events: each is a whole response message with one directive or
// error, and its id is the place in the mailbox. A client that comes back names the last one, as browsers do by
// themselves, and gets what it missed.
func (c *call) stream(w http.ResponseWriter, r *http.Request) error {
	f, err := c.follows(r)
	if err != nil {
		return err
	}
	if f.early > 0 {
		return f.sendEarlier(w, r)
	}
	if err := f.begin(r.Context()); err != nil {
		return err
	}
	if f.tells {
		if f.waits, err = c.waiting.Follow(r.Context(), c.who.Actor); err != nil {
			return err
		}
		defer f.waits.Leave()
	}
	w.Header().Set("X-Accel-Buffering", "no")
	begin(w, http.StatusOK, "text/event-stream")
	f.sender = &sender{w: w, connection: http.NewResponseController(w)}
	_ = f.connection.SetReadDeadline(time.Time{}) // or the server's own would end the stream
	if f.write("retry: %d\n\n", reconnect) == nil {
		f.follow(r)
	}
	return nil
}

// follow sends mail until the client leaves, is no longer admitted, its wait is over, or the engine stops.
func (f *following) follow(r *http.Request) {
	ctx := r.Context()
	var mailboxes []core.ConversationID
	for _, one := range f.feeds {
		mailboxes = append(mailboxes, one.mailbox)
	}
	changed, remove := f.watchers.add(mailboxes...)
	defer remove()
	deltas, unwatch := f.newDeltas(mailboxes)
	defer unwatch()
	loggedOut, leave := f.Gate.Follow(r)
	defer leave()
	tick, beat := time.NewTicker(streamLook), time.NewTicker(f.every)
	defer tick.Stop()
	defer beat.Stop()
	var over <-chan time.Time // never
	if f.ends {
		over = time.After(f.wait)
	}
	err := f.beat()
	for look := true; err == nil; {
		if look {
			var some, told bool
			if some, err = f.sendNew(ctx); err == nil {
				told, err = f.tellWaiting()
			}
			if err == nil {
				err = f.tell(deltas)
			}
			if err != nil || f.ends && (some || told || f.wait == 0 && f.begun()) {
				break
			}
		}
		look = true
		select {
		case <-changed:
		case <-f.waits.Wake():
		case <-tick.C:
		case <-deltas.changed:
			deltas.delay()
			look = false
		case <-deltas.due:
			err, look = f.tell(deltas), false
		case <-beat.C:
			if _, err = f.Gate.Identify(r); err == nil { // else the login has ended
				err = f.beat()
			}
		case <-over:
			return
		case <-loggedOut:
			return
		case <-ctx.Done():
			return
		case <-f.ended:
			return
		}
	}
	if err != nil && ctx.Err() == nil {
		f.Log.Debug("a stream ends", "platform", Name, "err", err)
	}
}

// sendNew sends the news of each session, and whether a turn of it runs; it reports whether there was any news.
func (f *following) sendNew(ctx context.Context) (some bool, err error) {
	for _, one := range f.feeds {
		before := one.after
		if err := one.sendNew(ctx, f.sender); err != nil {
			return some, err
		}
		if err := f.tellTurn(ctx, one); err != nil {
			return some, err
		}
		some = some || one.after > max(before, 0)
	}
	return some, f.tellList(ctx)
}

// begun reports whether there was memory for the beginning of each session.
func (f *following) begun() bool {
	return !slices.ContainsFunc(f.feeds, func(one *feed) bool { return one.after < 0 })
}

// sendNew sends the mail after the feed's place, which becomes that of the last one. What there is no memory for is
// sent later.
func (c *feed) sendNew(ctx context.Context, s *sender) error {
	for {
		f := core.MailFilter{Mailbox: c.mailbox, After: c.after, Limit: batch, Bytes: batchBytes}
		if c.after < 0 {
			f = core.MailFilter{Mailbox: c.mailbox, Last: lastMail, Bytes: lastBytes}
		}
		mail, err := c.Store.ListMail(ctx, f)
		if err != nil {
			return err
		}
		size := 0
		for _, m := range mail {
			size += len(m.Content)
		}
		hold, weight := inflight.Of(ctx), int64(size)*mailWeight
		if !hold.Take(weight) {
			return nil
		}
		err = c.sendAll(ctx, s, mail)
		hold.Grow(-weight)
		c.after = max(c.after, 0)
		if err != nil || f.Last > 0 || len(mail) < batch && size < batchBytes {
			return err
		}
	}
}

func (c *feed) sendAll(ctx context.Context, s *sender, mail []core.Mail) error {
	for _, m := range mail {
		a, err := c.envelope(ctx, m)
		if err != nil {
			return err
		}
		if err := s.write("%sid: %d\ndata: %s\n\n", c.head, m.Seq, a.Encode()); err != nil {
			return err
		}
		c.after = m.Seq
	}
	return nil
}

// envelope is a response message about one mail.
func (c *call) envelope(ctx context.Context, m core.Mail) (r wire.Response, err error) {
	p, err := readPost(m)
	if err != nil {
		return r, err
	}
	d, err := c.directive(ctx, m, p)
	if err != nil || p.Kind != core.PostError {
		return c.response(d), err
	}
	known, err := c.Store.Events(ctx, core.EventFilter{Seq: m.Event, Limit: 1})
	if err != nil {
		return r, err
	}
	var ev core.EventRecord
	if len(known) > 0 {
		ev = known[0]
	}
	ev.End.Category = cmp.Or(ev.End.Category, core.Category(p.Bucket))
	return failed(c.response(d), ev), nil
}

// sender writes a stream. A client that does not read is cut off.
type sender struct {
	w          http.ResponseWriter
	connection *http.ResponseController
}

func (s *sender) write(format string, args ...any) error {
	_ = s.connection.SetWriteDeadline(time.Now().Add(writeTime)) // fails only where there is no connection
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		return err
	}
	return s.connection.Flush()
}
