package openharness

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/openharness/internal/delta"
	"gatehouse/adapters/openharness/internal/waiting"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// Limits of what a client asks a stream for.
const (
	maxBeat  = 60
	maxWhole = 25 // seconds that an answer waits for news
	maxMore  = 32 // sessions of one stream
)

// feed is one session of a stream.
type feed struct {
	*call
	head  string // a line that begins its events: it names the session, where a stream has several
	after int64  // the place of what was sent last; -1: begin with the last mail
	told  *turn  // what the client was told last; nil: nothing
	shown delta.Drawing
}

// following is what one client follows: a session, or several over one connection.
type following struct {
	*call
	*sender
	feeds []*feed
	beats bool          // beats are events, not comments
	every time.Duration // between beats
	known string        // the epoch in which the client's places were given; "" = it does not say
	epoch string
	anew  bool // the client's places are of another mailbox: it gets the last mail, and must drop what it has
	ends  bool // the answer ends with the first news, or after wait
	wait  time.Duration
	tells bool            // the client wants to know how many approvals wait for it
	waits *waiting.Stream // what tells it; nil: nothing does

	lists bool // the client is told what changes in its person's list of conversations
	list  listing
	early int64 // the answer is the mail before this place; 0: it is what comes
}

// follows reads which sessions a stream is of, how they are drawn, and after which event each begins. It refuses every
// parameter that it can't honour.
func (c *call) follows(r *http.Request) (*following, error) {
	query, err := access.Query(r, "session", "session_id", "conversation", "after", "html", "deltas", "beat", "epoch",
		"wait", "more", "approvals", "conversations", "before", access.PageField)
	if err != nil {
		return nil, err
	}
	names, thread := slices.Compact(append(query["session"], query["session_id"]...)), query.Get("conversation")
	if len(names) > 1 {
		return nil, invalid("session_id", "The parameters session and session_id name two sessions. Give one of them.")
	}
	if c.html, err = strconv.ParseBool(cmp.Or(query.Get("html"), "0")); err != nil {
		return nil, invalid("html", "The parameter html is 1 for replies as HTML, too, or 0.")
	}
	if c.deltas, err = strconv.ParseBool(cmp.Or(query.Get("deltas"), "0")); err != nil {
		return nil, invalid("deltas", "The parameter deltas is 1 for what a turn says while it runs, too, or 0.")
	}
	f := &following{call: c, known: query.Get("epoch"), every: heartbeat}
	if beat := query.Get("beat"); beat != "" {
		seconds, err := strconv.Atoi(beat)
		if err != nil || seconds < 1 || seconds > maxBeat {
			return nil, invalid("beat", "The parameter beat is a number of seconds from 1 to 60.")
		}
		f.beats, f.every = true, time.Duration(seconds)*time.Second
	}
	if wait := query.Get("wait"); wait != "" {
		seconds, err := strconv.Atoi(wait)
		if err != nil || seconds < 0 || seconds > maxWhole {
			return nil, invalid("wait", "The parameter wait is a number of seconds from 0 to 25.")
		}
		f.ends, f.wait = true, time.Duration(seconds)*time.Second
	}
	if f.lists, err = strconv.ParseBool(cmp.Or(query.Get("conversations"), "0")); err != nil {
		return nil, invalid("conversations", "The parameter conversations is 1 for what changes in your list, or 0.")
	}
	if f.early, err = earlier(query); err != nil {
		return nil, err
	}
	last := cmp.Or(r.Header.Get("Last-Event-ID"), query.Get("after")) // for a client that can't set headers
	after := int64(-1)
	if last != "" {
		if after, err = strconv.ParseInt(last, 10, 64); err != nil || after < 0 {
			return nil, invalid("Last-Event-ID", "The Last-Event-ID is not one of this stream.")
		}
	}
	f.tells, err = strconv.ParseBool(cmp.Or(query.Get("approvals"), "0"))
	if err != nil || f.tells && c.waiting == nil {
		return nil, invalid("approvals", "The parameter approvals is 1 for how many wait for you, or 0.")
	}
	if f.tells && len(names) == 0 && thread == "" && !query.Has("more") { // of no session
		return f, nil
	}
	if err := f.add(strings.Join(names, ""), thread, after); err != nil {
		return nil, err
	}
	return f, f.addMore(query.Get("more"))
}

// addMore adds the further sessions of a stream, a JSON object of their places by their names; -1 for no place.
func (f *following) addMore(list string) error {
	if list == "" {
		return nil
	}
	var more map[string]int64
	if err := json.Unmarshal([]byte(list), &more); err != nil || len(more) > maxMore {
		return invalid("more", "The parameter more is a JSON object of at most 32 sessions, each with the id of the "+
			"last event that came of it, or -1.")
	}
	for name, after := range more {
		if err := f.add(name, "", max(after, -1)); err != nil {
			return err
		}
	}
	for _, one := range f.feeds {
		name, _ := json.Marshal(one.request.Session) // of a string: can't fail
		one.head = "session: " + string(name) + "\n"
	}
	return nil
}

func (f *following) add(session, thread string, after int64) error {
	if fault := wire.CheckIDs(session, thread); fault != nil {
		return fault
	}
	c := *f.call
	c.request.Session, c.mailbox = session, c.who.Conversation(session, thread)
	f.feeds = append(f.feeds, &feed{call: &c, after: after, shown: delta.Drawing{HTML: c.html}})
	return nil
}

// begin finds out whether the client's places are of these mailboxes. They are not after the database was begun anew,
// or was restored from a backup: then all begins anew.
func (f *following) begin(ctx context.Context) (err error) {
	if !f.beats {
		return nil
	}
	if f.epoch, err = f.KV.PutIfAbsent(ctx, "openharness/epoch", rand.Text()); err != nil || f.known == "" {
		return err
	}
	f.anew = f.known != f.epoch
	for _, one := range f.feeds {
		if f.anew || one.after <= 0 {
			continue
		}
		last, err := f.Store.ListMail(ctx, core.MailFilter{Mailbox: one.mailbox, Last: 1})
		if err != nil {
			return err
		}
		f.anew = len(last) == 0 || last[0].Seq < one.after
	}
	for _, one := range f.feeds {
		if f.anew {
			one.after = -1
		}
	}
	return nil
}

// beat shows that the stream lives, and says what time it is here.
func (f *following) beat() error {
	if !f.beats {
		return f.write(": still here\n\n")
	}
	data, _ := json.Marshal(struct { // of texts and times: can't fail
		At    time.Time `json:"at"`
		Epoch string    `json:"epoch"`
		Anew  bool      `json:"anew,omitempty"`
	}{f.Now().UTC(), f.epoch, f.anew})
	f.anew = false // it was said
	return f.write("event: beat\ndata: %s\n\n", data)
}

// tellWaiting sends what is new of the approvals that wait for the reader. It has no id: it is about now, and is not
// kept.
func (f *following) tellWaiting() (some bool, err error) {
	news, some := f.waits.Take()
	if !some {
		return false, nil
	}
	data, _ := json.Marshal(news) // of numbers and ids: can't fail
	return news.Many || len(news.Changed) > 0, f.write("event: approvals\ndata: %s\n\n", data)
}
