package openharness

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
	"gatehouse/core/inflight"
)

// addressOf is where a conversation is answered: in its mailbox.
func addressOf(c core.ConversationID) core.Address {
	return core.Address{Platform: Name, Channel: string(c)}
}

// maxTitle is how many characters of its first message a conversation is called by.
const maxTitle = 60

// opening is what a message makes of its conversation, if it is the first one there. A conversation inside a session is
// in no list.
func opening(ev core.Event, text string) *core.Opening {
	if _, listed := (access.Person{Name: ev.Actor.Name}).Session(ev.Conversation); !listed {
		return nil
	}
	title := []rune(safetext.OneLine(safetext.Clean(text)))
	return &core.Opening{
		Person: ev.Actor.ID, Title: strings.TrimSpace(string(title[:min(len(title), maxTitle)])),
	}
}

// listed is what a stream's event conversations says of one conversation of the person's list.
type listed struct {
	Session string    `json:"session"`
	Title   string    `json:"title"` // "": it was deleted
	Last    int64     `json:"last"`  // the place of its last mail
	At      time.Time `json:"at"`    // of its last word
	Waits   bool      `json:"waits"` // an approval of it is open
}

// What is looked at again of a person's list: a commit may be seen after a later one, and an answer that ends with the
// news begins anew.
const (
	listOverlap = 20 * time.Second
	listBatch   = 100
)

// listing tells what changes in a person's list.
type listing struct {
	since time.Time
	told  map[core.ConversationID]time.Time
}

// tellList sends the event conversations for what has changed since the last look. It has no id: it is about now, and
// is not kept.
func (f *following) tellList(ctx context.Context) error {
	if !f.lists {
		return nil
	}
	filter := core.ConversationFilter{Person: f.who.Actor.ID, Limit: listBatch}
	if f.list.told == nil { // what the list has now was got with the page
		filter.Limit = 1
	} else {
		filter.Since = f.list.since.Add(-listOverlap)
	}
	all, err := f.Store.ListConversations(ctx, filter)
	if err != nil {
		return err
	}
	first, before := f.list.told == nil, f.list.told
	f.list.told = map[core.ConversationID]time.Time{}
	if first {
		f.list.since = time.Unix(0, 0).Add(2 * listOverlap)
	}
	var news []listed
	for _, c := range all {
		f.list.told[c.ID] = c.ChangedAt
		if c.ChangedAt.After(f.list.since) {
			f.list.since = c.ChangedAt
		}
		session, ok := f.who.Session(c.ID)
		if ok && !before[c.ID].Equal(c.ChangedAt) {
			news = append(news, listed{session, c.Title, c.Last, c.SaidAt, c.Waits})
		}
	}
	if len(news) == 0 {
		return nil
	}
	data, _ := json.Marshal(news) // of texts and numbers: can't fail
	return f.write("event: conversations\ndata: %s\n\n", data)
}

// earlier reads the parameter before; 0: it is not there. Its answer is of one session, and is not a stream.
func earlier(query url.Values) (int64, error) {
	if !query.Has("before") {
		return 0, nil
	}
	before, err := strconv.ParseInt(query.Get("before"), 10, 64)
	if err != nil || before < 1 {
		return 0, invalid("before", "The parameter before is the place of a mail: a whole number from 1 on.")
	}
	for _, other := range []string{"after", "more", "wait", "beat", "epoch", "approvals", "conversations"} {
		if query.Has(other) {
			return 0, invalid("before", "The parameter before does not go with "+other+".")
		}
	}
	return before, nil
}

// sendEarlier sends the last mail before a place, as much as a client gets that begins to follow. The answer is empty
// if there is none.
func (f *following) sendEarlier(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	one := f.feeds[0]
	mail, err := one.Store.ListMail(ctx, core.MailFilter{
		Mailbox: one.mailbox, Before: f.early, Last: lastMail, Bytes: lastBytes,
	})
	if err != nil {
		return err
	}
	weight := int64(0)
	for _, m := range mail {
		weight += int64(len(m.Content)) * mailWeight
	}
	hold := inflight.Of(ctx)
	if !hold.Take(weight) {
		return core.Errorf(core.StoreBusy, "There is no memory for this now.")
	}
	defer hold.Grow(-weight)
	begin(w, http.StatusOK, "text/event-stream")
	// it fails where the client has gone, which may ask again
	_ = one.sendAll(ctx, &sender{w: w, connection: http.NewResponseController(w)}, mail)
	return nil
}
