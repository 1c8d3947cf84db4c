package openharness

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
	"gatehouse/core/inflight"
)

// Numbers of streams.
const (
	heartbeat  = 15 * time.Second
	streamLook = 2 * time.Second // how often the mailbox is read while nothing is heard
	writeTime  = 10 * time.Second
	lastMail   = 200 // how much of a mailbox a client gets that names no Last-Event-ID
	batch      = 100
	lastBytes  = 4 << 20 // of what such a client gets, and one mail more
	batchBytes = 1 << 20 // of a batch, and one mail more
	mailWeight = 4       // how many times its length the work on a batch holds
	reconnect  = 2000    // milliseconds after which a client connects again
)

// stream sends what is said in one session as server-sent events: each is a whole response message with one directive
// or error, and its id is the place in the mailbox. A client that comes back names the last one, as browsers do by
// themselves, and gets what it missed.
func (c *call) stream(w http.ResponseWriter, r *http.Request) error {
	after, err := c.follows(r)
	if err != nil {
		return err
	}
	w.Header().Set("X-Accel-Buffering", "no")
	begin(w, http.StatusOK, "text/event-stream")
	s := &sender{w: w, connection: http.NewResponseController(w)}
	_ = s.connection.SetReadDeadline(time.Time{}) // or the server's own would end the stream
	if s.write("retry: %d\n\n", reconnect) == nil {
		c.follow(r, s, after)
	}
	return nil
}

// follows reads which session a stream is of, how it is drawn, and after which event it begins; -1 if no event is
// named. It refuses every parameter that it can't honour.
func (c *call) follows(r *http.Request) (after int64, err error) {
	query, err := access.Query(r, "session", "session_id", "conversation", "after", "html", "deltas")
	if err != nil {
		return 0, err
	}
	names, thread := slices.Compact(append(query["session"], query["session_id"]...)), query.Get("conversation")
	if len(names) > 1 {
		return 0, invalid("session_id", "The parameters session and session_id name two sessions. Give one of them.")
	}
	session := strings.Join(names, "")
	if fault := wire.CheckIDs(session, thread); fault != nil {
		return 0, fault
	}
	c.mailbox = conversationOf(c.who, session, thread)
	if c.html, err = strconv.ParseBool(cmp.Or(query.Get("html"), "0")); err != nil {
		return 0, invalid("html", "The parameter html is 1 for replies as HTML, too, or 0.")
	}
	if deltas, err := strconv.ParseBool(cmp.Or(query.Get("deltas"), "0")); deltas || err != nil {
		return 0, invalid("deltas", "This stream has whole replies only: set deltas to 0, or leave it out.")
	}
	last := cmp.Or(r.Header.Get("Last-Event-ID"), query.Get("after")) // for a client that can't set headers
	if last == "" {
		return -1, nil
	}
	if after, err = strconv.ParseInt(last, 10, 64); err != nil || after < 0 {
		return 0, invalid("Last-Event-ID", "The Last-Event-ID is not one of this stream.")
	}
	return after, nil
}

// follow sends mail until the client leaves, is no longer admitted, or the engine stops.
func (c *call) follow(r *http.Request, s *sender, after int64) {
	ctx := r.Context()
	changed, remove := c.watchers.add(c.mailbox)
	defer remove()
	look, beat := time.NewTicker(streamLook), time.NewTicker(heartbeat)
	defer look.Stop()
	defer beat.Stop()
	for {
		var err error
		if after, err = c.sendNew(ctx, s, after); err != nil {
			if ctx.Err() == nil {
				c.Log.Debug("a stream ends", "platform", Name, "err", err)
			}
			return
		}
		select {
		case <-changed:
		case <-look.C:
		case <-beat.C:
			if _, err := c.Gate.Identify(r); err != nil || s.write(": still here\n\n") != nil {
				return // the login has ended, or the client has left
			}
		case <-ctx.Done():
			return
		case <-c.ended:
			return
		}
	}
}

// sendNew sends the mail after a place and returns the place of the last one. What there is no memory for is sent
// later.
func (c *call) sendNew(ctx context.Context, s *sender, after int64) (int64, error) {
	for {
		f := core.MailFilter{Mailbox: c.mailbox, After: after, Limit: batch, Bytes: batchBytes}
		if after < 0 {
			f = core.MailFilter{Mailbox: c.mailbox, Last: lastMail, Bytes: lastBytes}
		}
		mail, err := c.Store.ListMail(ctx, f)
		if err != nil {
			return after, err
		}
		size := 0
		for _, m := range mail {
			size += len(m.Content)
		}
		hold, weight := inflight.Of(ctx), int64(size)*mailWeight
		if !hold.Take(weight) {
			return after, nil
		}
		after, err = c.sendAll(ctx, s, mail, after)
		hold.Grow(-weight)
		if err != nil || f.Last > 0 || len(mail) < batch && size < batchBytes {
			return max(after, 0), err
		}
	}
}

func (c *call) sendAll(ctx context.Context, s *sender, mail []core.Mail, after int64) (int64, error) {
	for _, m := range mail {
		a, err := c.envelope(ctx, m)
		if err != nil {
			return after, err
		}
		if err := s.write("id: %d\ndata: %s\n\n", m.Seq, a.Encode()); err != nil {
			return after, err
		}
		after = m.Seq
	}
	return after, nil
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
