package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"gatehouse/core"
)

// Parse reads what was said, or what was decided. In a conversation of several people the message begins with who speaks; images
// that were sent along become blocks, other files are named.
func (s *Slack) Parse(ctx context.Context, e core.Event) (core.Input, error) {
	switch e.Kind() {
	case core.KindMessage:
		return s.parseMessage(ctx, e)
	case core.KindClick:
		return s.parseClick(e)
	}
	return core.Input{}, core.Errorf(core.Invalid, "Slack knows no event of kind %q.", e.Kind())
}

var errMessageShape = core.Errorf(core.ChatMessageShapeInvalid, "What came from Slack could not be read; send it again.")

func (s *Slack) parseMessage(ctx context.Context, e core.Event) (core.Input, error) {
	var body envelope
	var o occurrence
	if err := json.Unmarshal(e.Payload, &body); err != nil || len(body.Event) == 0 {
		return core.Input{}, errMessageShape
	}
	if err := json.Unmarshal(body.Event, &o); err != nil || o.User == "" || !strings.Contains(string(body.Event), `"text"`) {
		return core.Input{}, errMessageShape
	}
	bot := s.whoami().User
	if bot == "" {
		p, _ := s.where(body)
		bot = p.bot
	}
	rest, _ := addressed(o.Text, bot)
	text := strings.TrimSpace(s.named(ctx, rest))
	images, named, err := s.files(ctx, o.Files)
	if err != nil {
		return core.Input{}, err
	}
	if len(named) > 0 {
		text = strings.TrimSpace(text + "\n[files that were sent along and can't be read: " + strings.Join(named, ", ") + "]")
	}
	if text == "" && len(images) == 0 {
		return core.Input{}, core.Errorf(core.ChatMessageShapeInvalid, "There is nothing to answer in that message. Write what you would like after mentioning me.")
	}
	m := core.Message{Role: core.User, Content: s.content(ctx, o, text, images)}
	if err := m.Validate(); err != nil {
		return core.Input{}, err
	}
	return core.Input{Message: &m}, nil
}

// content puts a message together: who speaks where there are several, the images, and last the text.
func (s *Slack) content(ctx context.Context, o occurrence, text string, images []core.Block) core.Content {
	alone := o.ChannelType == "im" || o.ChannelType == "" && strings.HasPrefix(o.Channel, "D")
	if alone && len(images) == 0 {
		return core.Text(text)
	}
	var blocks []core.Block
	if !alone {
		ctx, enough := context.WithTimeout(ctx, nameTime)
		defer enough()
		blocks = append(blocks, core.Block{Type: core.TextBlock, Text: fmt.Sprintf("%s (%s:%s) says:", s.people.name(ctx, o.User), Name, o.User)})
	}
	blocks = append(blocks, images...)
	if text != "" {
		blocks = append(blocks, core.Block{Type: core.TextBlock, Text: text})
	}
	return core.Blocks(blocks...)
}

// named is a text with the names of the people that it mentions; channels and groups come with theirs.
func (s *Slack) named(ctx context.Context, text string) string {
	ctx, enough := context.WithTimeout(ctx, nameTime)
	defer enough()
	return readable(text, func(kind byte, id string) string {
		if kind != '@' {
			return ""
		}
		return s.people.name(ctx, id)
	})
}

var errClickShape = core.Errorf(core.Invalid, "What came from Slack is no press of one of our buttons; press again.")

func (s *Slack) parseClick(e core.Event) (core.Input, error) {
	var i interaction
	if err := json.Unmarshal(e.Payload, &i); err != nil {
		return core.Input{}, errClickShape
	}
	values := []string{i.View.PrivateMetadata}
	for _, a := range i.Actions {
		values = append(values, a.Value)
	}
	for _, value := range values {
		fields, ok := s.Signer.Open(value)
		if !ok || len(fields) < 2 || fields[0] != e.Subject() {
			continue
		}
		click := core.Click{Approval: core.ApprovalID(fields[0]), Choice: core.Choice(fields[1]), Card: cardOf(i)}
		if fields[1] == choiceReason && i.Type == "view_submission" {
			click.Choice, click.Reason = core.Deny, reasonOf(i)
		}
		if click.Choice == core.Approve || click.Choice == core.Deny {
			return core.Input{Click: &click}, nil
		}
	}
	return core.Input{}, errClickShape
}

// cardOf names the message whose button was pressed; a form has none.
func cardOf(i interaction) core.Ref {
	ts := i.Message.TS
	if ts == "" {
		ts = i.Container.MessageTS
	}
	if ts == "" || i.at().Channel == "" {
		return ""
	}
	return refOf(i.at().Channel, ts)
}

// reasonOf reads the form's one field.
func reasonOf(i interaction) string {
	for _, block := range i.View.State.Values {
		for _, field := range block {
			return strings.TrimSpace(field.Value)
		}
	}
	return ""
}
