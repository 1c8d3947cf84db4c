package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// leaves reports whether a line leaves the console and never becomes an event: quit or exit, with or without the sign
// of a control word.
func leaves(l input) bool {
	word := strings.ToLower(strings.TrimLeft(strings.TrimSpace(l.text), "/!"))
	return !l.pasted && (word == "quit" || word == "exit")
}

// control is what a control word asks for, as in "/stop" or "!stop"; nil if a line is none.
func control(l input) core.EventBody {
	text := strings.TrimSpace(l.text)
	if l.pasted || strings.IndexAny(text, "/!") != 0 {
		return nil
	}
	return core.ParseControl(text[1:])
}

// overtakes reports whether a line is a control word that does not wait for a running turn.
func overtakes(l input) bool {
	_, ok := control(l).(core.ControlEvent)
	return ok
}

// event is what a line is that answers no card: a control word or a message.
func (c *Console) event(l input) core.Event {
	body := control(l)
	if body == nil {
		body = core.MessageEvent{}
	}
	var payload bytes.Buffer
	enc := json.NewEncoder(&payload)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(map[string]string{"text": l.text}) // can't fail
	return core.Event{
		Platform: Name, ID: c.opt.NewID(), Conversation: c.conversation, Body: body, Actor: c.opt.Actor,
		Address: c.address(), Payload: bytes.TrimSpace(payload.Bytes()),
	}
}

// Parse reads the payload of a message. Unknown keys are ignored; a wrong type is an error of the user-correctable
// bucket: chat_message_shape_invalid or message_too_large.
func (c *Console) Parse(_ context.Context, e core.Event) (core.Input, error) {
	if len(e.Payload) > c.opt.MaxMessage {
		return core.Input{}, messageTooLarge(c.opt.MaxMessage)
	}
	v, err := strictjson.Parse(e.Payload)
	text := v.Get("text")
	if err != nil || text == nil || text.Kind != strictjson.String {
		return core.Input{}, core.Wrap(core.ChatMessageShapeInvalid, err,
			"The input from the terminal is not valid JSON with a text. Please send it again.")
	}
	m := core.Message{Role: core.User, Content: core.Text(text.String)}
	return core.Input{Message: &m, ByWord: true}, m.Validate()
}

func messageTooLarge(limit int) *core.Error {
	return core.Errorf(core.MessageTooLarge,
		"That message is longer than %d bytes and was not accepted. Please send it in parts.", limit)
}

// Storing an event is tried for about half a minute.
const (
	maxTries  = 12
	firstWait = 100 * time.Millisecond
	maxWait   = 5 * time.Second
)

// submit passes an event to accept until it is stored. It refuses an event whose payload is too large, and prints a
// message if an event is not stored. The error is accept's last one.
func (c *Console) submit(ctx context.Context, e core.Event) error {
	if len(e.Payload) > c.opt.MaxMessage {
		return c.tooLarge()
	}
	wait := firstWait
	for try := 1; ; try++ {
		_, err := c.accept(ctx, e)
		if err == nil {
			return nil
		}
		bucket := core.BucketOf(core.CategoryOf(err))
		switch {
		case ctx.Err() != nil || bucket == core.RetryableTransient && try == maxTries:
			c.say("Your message could not be stored. Please send it again later.")
			return core.Wrap(core.CategoryOf(err), err, "Can't store a line of the input.")
		case bucket != core.RetryableTransient:
			c.say("Your message was not accepted: " + cmp.Or(core.MessageOf(err), "internal error, see the log."))
			return err
		case try == 1:
			c.say("Your message could not be stored yet. Trying again.")
		}
		c.opt.Log.Warn("storing an event",
			"platform", Name, "event", e.ID, "category", core.CategoryOf(err), "err", err)
		outbound.Sleep(ctx, wait)
		wait = min(2*wait, maxWait)
	}
}

// tooLarge says that a message is too large, and is that error.
func (c *Console) tooLarge() error {
	err := messageTooLarge(c.opt.MaxMessage)
	c.say(err.Message)
	return err
}
