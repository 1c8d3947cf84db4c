package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gatehouse/core"
)

// Parse reads what was said, or what was decided. In a conversation of several people the message begins with who speaks; images
// that were sent along become blocks, other files are named.
func (d *Discord) Parse(ctx context.Context, e core.Event) (core.Input, error) {
	switch e.Kind() {
	case core.KindMessage:
		return d.parseMessage(ctx, e)
	case core.KindClick:
		return d.parseClick(e)
	}
	return core.Input{}, core.Errorf(core.Invalid, "Discord knows no event of kind %q.", e.Kind())
}

var errMessageShape = core.Errorf(core.ChatMessageShapeInvalid, "What came from Discord could not be read; send it again.")

func (d *Discord) parseMessage(ctx context.Context, e core.Event) (core.Input, error) {
	m, err := spoken(e)
	if err != nil {
		return core.Input{}, err
	}
	me, err := d.me(ctx)
	if err != nil {
		return core.Input{}, err
	}
	mine, err := d.roleOf(ctx, m, me)
	if err != nil {
		return core.Input{}, err
	}
	rest, _ := addressed(m, me, mine)
	text := strings.TrimSpace(readable(rest, d.namesFor(ctx, m)))
	images, named, err := d.files(ctx, m)
	if err != nil {
		return core.Input{}, err
	}
	if len(named) > 0 {
		text = strings.TrimSpace(text + "\n[files that were sent along and can't be read: " + strings.Join(named, ", ") + "]")
	}
	if text == "" && len(images) == 0 {
		if m.Content == "" && !d.reads() && m.Guild != "" {
			return core.Input{}, core.Errorf(core.ChatMessageShapeInvalid, "I can't read that message: here I see only what mentions me. Mention me in it.")
		}
		return core.Input{}, core.Errorf(core.ChatMessageShapeInvalid, "There is nothing to answer in that message. Write what you would like after mentioning me.")
	}
	input := core.Message{Role: core.User, Content: content(m, text, images)}
	if err := input.Validate(); err != nil {
		return core.Input{}, err
	}
	return core.Input{Message: &input}, nil
}

// me is the bot's own user. A message that was stored before a restart may be read before Discord has told who the bot is, or while it
// can't be reached: the session with it that heard the message tells too. Error: store_busy.
func (d *Discord) me(ctx context.Context) (string, error) {
	if me := d.whoami().User; me != "" {
		return me, nil
	}
	text, err := d.Settings.Get(ctx, sessionName(0))
	if err != nil {
		return "", core.Wrap(core.StoreBusy, err, "The store can't say who the bot is.")
	}
	var s session
	_ = json.Unmarshal([]byte(text), &s) // without one the bot's name stands in the text
	return s.Bot, nil
}

// spoken reads the payload of a message or of a question that was asked by a command.
func spoken(e core.Event) (saying, error) {
	var m saying
	var form struct {
		Content *string         `json:"content"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(e.Payload, &form); err != nil {
		return saying{}, errMessageShape
	}
	if form.Data != nil {
		var i interaction
		if err := json.Unmarshal(e.Payload, &i); err != nil || i.person() == nil {
			return saying{}, errMessageShape
		}
		m.Author, m.Content = i.person(), i.text()
		if i.Member != nil {
			m.Member = &member{Nick: i.Member.Nick}
		}
	} else if err := json.Unmarshal(e.Payload, &m); err != nil || m.Author == nil || form.Content == nil {
		return saying{}, errMessageShape
	}
	if !isID(m.Author.ID) {
		return saying{}, errMessageShape
	}
	m.Guild = ""
	if guild := guildOf(e.Conversation); isID(guild) {
		m.Guild = guild
	}
	return m, nil
}

// content puts a message together: who speaks where there are several, the images, and last the text.
func content(m saying, text string, images []core.Block) core.Content {
	alone := m.Guild == ""
	if alone && len(images) == 0 {
		return core.Text(text)
	}
	var blocks []core.Block
	if !alone {
		who := nameLine(calledBy(m.Author, m.Member))
		blocks = append(blocks, core.Block{Type: core.TextBlock, Text: fmt.Sprintf("%s (%s:%s) says:", who, Name, m.Author.ID)})
	}
	blocks = append(blocks, images...)
	if text != "" {
		blocks = append(blocks, core.Block{Type: core.TextBlock, Text: text})
	}
	return core.Blocks(blocks...)
}

var errClickShape = core.Errorf(core.Invalid, "What came from Discord is no press of one of our buttons; press again.")

func (d *Discord) parseClick(e core.Event) (core.Input, error) {
	var i interaction
	if err := json.Unmarshal(e.Payload, &i); err != nil {
		return core.Input{}, errClickShape
	}
	fields, ok := d.Signer.Open(i.Data.CustomID)
	if !ok || len(fields) < 2 || fields[0] != e.Subject() {
		return core.Input{}, errClickShape
	}
	click := core.Click{Approval: core.ApprovalID(fields[0]), Choice: core.Choice(fields[1]), Card: cardOf(i)}
	switch {
	case i.Type != typeForm:
	case fields[1] == choiceReason:
		click.Choice, click.Reason = core.Deny, inputOf(i.Data.Rows)
	case fields[1] == choiceConfirm && confirmed(i):
		click.Choice = core.Approve
	}
	if click.Choice != core.Approve && click.Choice != core.Deny {
		return core.Input{}, errClickShape
	}
	return core.Input{Click: &click}, nil
}

// cardOf names the message whose button was pressed, or below which the form was opened.
func cardOf(i interaction) core.Ref {
	if i.Message == nil || !isID(i.Message.ID) || !isID(i.Channel) {
		return ""
	}
	return refOf(i.Channel, i.Message.ID)
}
