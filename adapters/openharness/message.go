package openharness

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// say stores a message, unless its request_id is known, and answers what became of it.
func (c *call) say(ctx context.Context) (r wire.Response, err error) {
	if r, done, err := c.replace(ctx); done || err != nil {
		return r, err
	}
	record, fresh, err := c.store(ctx, c.event())
	switch {
	case err != nil:
		return r, err
	case fresh:
		return c.outcome(ctx, record, false)
	}
	return c.repeated(ctx, record)
}

// event makes the event of a message, whose id is made of the principal and the request_id: a repetition is the same
// event.
func (c *call) event() core.Event {
	q := c.request
	ev := core.Event{
		Platform: Name, ID: c.eventID(), Conversation: c.mailbox, Body: core.MessageEvent{},
		Actor: c.who.Actor, Address: addressOf(c.mailbox),
	}
	ev.Payload = c.payload(nil)
	if control := inbound.Control(q.Intent); control != nil {
		ev.Body = control
	}
	return ev
}

func (c *call) eventID() string {
	if c.request.ID == "" {
		return "request/" + c.who.Name + "/-" + rand.Text()
	}
	return c.eventOf(c.request.ID)
}

// eventOf is the id of the event of a message of the principal's.
func (c *call) eventOf(request string) string {
	return fmt.Sprintf("request/%s/%x", c.who.Name, sha256.Sum256([]byte(request)))
}

// replace puts a message in the place of an earlier one whose turn has not begun, as an edit on a chat platform does,
// and answers what became of that. Otherwise done is false: the message is one of its own, and nothing that was
// answered changes. It counts as a message, and a repetition is the same change.
func (c *call) replace(ctx context.Context) (r wire.Response, done bool, err error) {
	target, ev := c.eventOf(c.request.Replaces), c.event()
	if c.request.Replaces == "" || ev.Kind() != core.KindMessage {
		return r, false, nil
	}
	earlier, err := c.find(ctx, target)
	if err != nil || earlier == nil || earlier.Kind() != core.KindMessage || earlier.Conversation != c.mailbox {
		return r, false, err
	}
	own, err := c.find(ctx, ev.ID)
	if err != nil || own != nil { // it has become one of its own, or the id is another request's
		return r, false, err
	}
	ev.ID, ev.Body = strings.Replace(ev.ID, "request/", "replace/", 1), core.AmendEvent{Event: target}
	change, err := c.find(ctx, ev.ID)
	if err != nil {
		return r, false, err
	}
	fresh := change == nil
	if fresh {
		if change, err = c.change(ctx, ev, earlier.Event); err != nil {
			return r, false, err
		}
	}
	var stored core.Amendment
	_ = json.Unmarshal(change.Payload, &stored) // what can't be read has no digest
	if err := c.same(core.EventRecord{Event: core.Event{
		Payload: stored.Payload, Conversation: change.Conversation,
	}}); err != nil {
		return r, false, err
	}
	switch {
	case change.End.Kind != core.EndApplied:
		return r, false, nil
	case fresh:
		r, err = c.outcome(ctx, *earlier, false)
	default:
		r, err = c.repeated(ctx, *earlier)
	}
	about, _ := r.Body.Extensions[wire.Namespace].(map[string]any)
	if about == nil {
		about = map[string]any{}
	}
	about["replaced"] = c.request.Replaces
	r.Body.Extensions = vendor(about)
	return r, true, err
}

// change stores the change of a message. Its uploads are kept as long as those of the message are.
func (c *call) change(ctx context.Context, ev, of core.Event) (*core.EventRecord, error) {
	if err := c.limits.message(c.who); err != nil {
		return nil, err
	}
	uploads, err := c.uploads(ctx, of)
	if err != nil {
		return nil, err
	}
	ev.Payload, _ = json.Marshal(core.Amendment{ // of texts: can't fail
		Revision: c.Now().UTC().Format(revisions), Payload: c.payload(uploads), Text: c.request.Intent, Added: true,
	})
	record, err := c.stored(ctx, ev)
	return &record, err
}

// revisions is how the time of a change is written, so that a later one is larger.
const revisions = "2006-01-02T15:04:05.000000000"

// maxRefused is how often one request_id may be refused because of other messages that wait.
const maxRefused = 100

// store accepts the event, or finds it. A message that was refused since others wait is not answered, so the same
// request_id may be sent again.
func (c *call) store(ctx context.Context, ev core.Event) (record core.EventRecord, fresh bool, err error) {
	id := ev.ID
	for n := 1; n <= maxRefused; n++ {
		known, err := c.find(ctx, ev.ID)
		if err == nil && known == nil {
			err = c.limits.message(c.who)
		}
		var uploads map[string]upload
		if err == nil && known == nil {
			uploads, err = c.uploads(ctx, ev)
		}
		if err != nil {
			return record, false, err
		}
		ev.Payload = c.payload(uploads)
		record, err = c.commit(ctx, ev)
		switch {
		case err != nil, record.End.Kind != core.EndRefused:
			return record, known == nil, err
		case known == nil:
			return record, false, tooMany(time.Second)
		}
		ev.ID = id + "/" + strconv.Itoa(n)
	}
	return record, false, tooMany(time.Minute)
}

// commit stores an event. An earlier event of its id must be the same request.
func (c *call) commit(ctx context.Context, ev core.Event) (core.EventRecord, error) {
	record, err := c.stored(ctx, ev)
	if err == nil {
		err = c.same(record)
	}
	return record, err
}

// stored accepts an event and reads it again.
func (c *call) stored(ctx context.Context, ev core.Event) (record core.EventRecord, err error) {
	if _, err := c.accept(ctx, ev); err != nil {
		return record, err
	}
	known, err := c.find(ctx, ev.ID)
	if err != nil || known == nil {
		return record, core.Wrap(core.StoreBusy, err, "The request was stored, but can't be read now.")
	}
	return *known, nil
}

// find returns the event of an id; nil if there is none.
func (c *call) find(ctx context.Context, id string) (*core.EventRecord, error) {
	all, err := c.Store.Events(ctx, core.EventFilter{Platform: Name, ID: id, Limit: 1})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

// same refuses a request_id that was used for another request.
func (c *call) same(known core.EventRecord) error {
	var p payload
	if json.Unmarshal(known.Payload, &p) != nil || p.Digest != c.request.Digest() || known.Conversation != c.mailbox {
		return refuse(http.StatusConflict, codeConflict,
			"This request_id was used for another request. Use a new one for each request, and the same one only to "+
				"repeat a request unchanged.")
	}
	return nil
}
