package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// wordQuit leaves the console; it never becomes an event. wordExit means the same.
const (
	wordQuit = "quit"
	wordExit = "exit"
)

// Help says what can be typed at the console besides messages. It is the answer to /help, where no other text is configured.
const Help = "/new starts a new conversation, /stop stops the running turn, /status shows what is waiting, /cancel cancels open approvals, " +
	wordAgain + " asks again for what expired, /quit leaves. While a card is open, y approves it, n denies it, and n REASON also says why. What is dangerous, or not shown whole, needs the " +
	"word approve instead of y. While a question is open, the next line answers it."

// leaves reports whether a line leaves the console: quit or exit, with or without the sign of a control word.
func leaves(l input) bool {
	word := strings.ToLower(strings.TrimLeft(strings.TrimSpace(l.text), "/!"))
	return !l.pasted && (word == wordQuit || word == wordExit)
}

// controlWord returns what a line has after the sign of a control word, as in "/stop" or "!stop"; "" if it has none.
func controlWord(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") && !strings.HasPrefix(text, "!") {
		return ""
	}
	return strings.ToLower(text[1:])
}

// isControl reports whether a line is a control word that does not wait for a running turn.
func isControl(text string) bool {
	_, ok := core.ParseControl(controlWord(text)).(core.ControlEvent)
	return ok
}

// spelled is the word that approves what y is not enough for.
const spelled = "approve"

// answer parses y, approve, n and n REASON; yes and no are the same as y and n.
func answer(text string) (choice core.Choice, reason string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "y", "yes", spelled:
		return core.Approve, "", rest == ""
	case "n", "no":
		return core.Deny, rest, true
	}
	return "", "", false
}

type textPayload struct {
	Text string `json:"text"`
}

type clickPayload struct {
	Approval core.ApprovalID `json:"approval"`
	Choice   core.Choice     `json:"choice"`
	Reason   string          `json:"reason,omitempty"`
	Answer   string          `json:"answer,omitempty"` // to a question: JSON
	Edits    string          `json:"edits,omitempty"`  // how often the arguments had been changed on the card that was answered
}

func (c *Console) newEvent(id string, body core.EventBody, payload any) core.Event {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(payload) // of texts alone: can't fail
	return core.Event{
		Platform: Name, ID: id, Conversation: c.conversation, Body: body, Actor: c.opt.Actor,
		Address: core.Address{Platform: Name, Channel: c.opt.Session}, Payload: bytes.TrimSpace(raw.Bytes()),
	}
}

func (c *Console) lineEvent(text string) core.Event {
	if body := core.ParseControl(controlWord(text)); body != nil {
		return c.newEvent(c.opt.NewID(), body, textPayload{text})
	}
	return c.newEvent(c.opt.NewID(), core.MessageEvent{}, textPayload{text})
}

func (c *Console) clickEvent(id core.ApprovalID, choice core.Choice, reason string) core.Event {
	payload := clickPayload{Approval: id, Choice: choice, Reason: reason}
	if n := c.editsShown(id); n > 0 {
		payload.Edits = strconv.Itoa(n)
	}
	return c.pressEvent(payload)
}

func (c *Console) pressEvent(p clickPayload) core.Event {
	press := string(p.Approval) + "/" + c.opt.Actor.ID + "/" + c.opt.NewID()
	return c.newEvent(press, core.ClickEvent{Approval: p.Approval}, p)
}

// Parse reads the payload of a message or a click. Unknown keys are ignored; a wrong type is an error of the user-correctable
// bucket: chat_message_shape_invalid, message_too_large or invalid.
func (c *Console) Parse(_ context.Context, e core.Event) (core.Input, error) {
	bad := core.Invalid
	if e.Kind() == core.KindMessage {
		bad = core.ChatMessageShapeInvalid
	}
	if len(e.Payload) > c.opt.MaxMessage {
		return core.Input{}, messageTooLarge(c.opt.MaxMessage)
	}
	v, err := strictjson.Parse(e.Payload)
	if err != nil {
		return core.Input{}, core.Wrap(bad, err, "The input from the terminal is not valid JSON. Please send it again.")
	}
	if v.Kind != strictjson.Object {
		return core.Input{}, core.Errorf(bad, "The input from the terminal must be an object, not %s. Please send it again.", v.Kind)
	}
	switch e.Kind() {
	case core.KindMessage:
		return parseMessage(v)
	case core.KindClick:
		return parseClick(v, e.Subject())
	}
	return core.Input{}, core.Errorf(core.Invalid, "The terminal has no events of kind %q.", e.Kind())
}

func parseMessage(v *strictjson.Value) (core.Input, error) {
	text, err := stringMember(v, "text", core.ChatMessageShapeInvalid)
	if err != nil {
		return core.Input{}, err
	}
	m := core.Message{Role: core.User, Content: core.Text(text)}
	if err := m.Validate(); err != nil {
		return core.Input{}, err
	}
	return core.Input{Message: &m}, nil
}

func parseClick(v *strictjson.Value, subject string) (core.Input, error) {
	fields := [5]string{}
	for i, key := range []string{"approval", "choice", "reason", "edits", "answer"} {
		var err error
		if fields[i], err = stringMember(v, key, core.Invalid); err != nil {
			return core.Input{}, err
		}
	}
	click := core.Click{Approval: core.ApprovalID(fields[0]), Choice: core.Choice(fields[1]), Reason: fields[2], Answer: fields[4]}
	if fields[3] != "" {
		n, err := strconv.Atoi(fields[3])
		if err != nil || n < 0 {
			return core.Input{}, core.Errorf(core.Invalid, "The member edits of the input from the terminal must be a number in a string, not %.20q.", fields[3])
		}
		click.Edits = n
	}
	if click.Approval == "" || fields[0] != subject {
		return core.Input{}, core.Errorf(core.Invalid, "This answer does not belong to the approval %q.", subject)
	}
	if click.Choice != core.Approve && click.Choice != core.Deny && click.Choice != core.Answer {
		return core.Input{}, core.Errorf(core.Invalid, "Unknown choice %q. Answer y or n.", click.Choice)
	}
	return core.Input{Click: &click}, nil
}

// stringMember returns a string member; "" if it is missing or null.
func stringMember(v *strictjson.Value, key string, bad core.Category) (string, error) {
	m := v.Get(key)
	if m == nil || m.Kind == strictjson.Null {
		return "", nil
	}
	if m.Kind != strictjson.String {
		return "", core.Errorf(bad, "The member %s of the input from the terminal must be a string, not %s.", key, m.Kind)
	}
	return m.String, nil
}

func messageTooLarge(limit int) *core.Error {
	return core.Errorf(core.MessageTooLarge, "That message is longer than %d bytes and was not accepted. Please send it in parts.", limit)
}

// Storing an event is tried for about half a minute.
const (
	maxTries  = 12
	firstWait = 100 * time.Millisecond
	maxWait   = 5 * time.Second
)

// submit passes an event to accept until it is stored. It refuses an event whose payload is too large, and prints a message if an event
// is not stored. The error is accept's last one.
func (c *Console) submit(ctx context.Context, accept core.Accept, e core.Event) (stored bool, err error) {
	if len(e.Payload) > c.opt.MaxMessage {
		c.say(messageTooLarge(c.opt.MaxMessage).Message)
		return false, nil
	}
	wait := firstWait
	for try := 1; ; try++ {
		_, err := accept(ctx, e)
		if err == nil {
			return true, nil
		}
		bucket := core.BucketOf(core.CategoryOf(err))
		if ctx.Err() != nil || bucket == core.RetryableTransient && try == maxTries {
			c.say("Your message could not be stored. Please send it again later.")
			return false, core.Wrap(core.CategoryOf(err), err, "Can't store a line of the input.")
		}
		if bucket != core.RetryableTransient {
			c.say("Your message was not accepted: " + cmp.Or(core.MessageOf(err), "internal error, see the log."))
			if bucket == core.UserCorrectable {
				return false, nil
			}
			return false, err
		}
		if try == 1 {
			c.say("Your message could not be stored yet. Trying again.")
		}
		c.opt.Log.Warn("storing an event", "platform", Name, "event", e.ID, "category", core.CategoryOf(err), "err", err)
		chat.Sleep(ctx, wait)
		wait = min(2*wait, maxWait)
	}
}
