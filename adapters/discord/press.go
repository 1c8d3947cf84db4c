package discord

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"gatehouse/core"
)

// interaction is what is read of a press of a button, a submitted form or a slash command.
type interaction struct {
	ID      string `json:"id"`
	App     string `json:"application_id"`
	Type    int    `json:"type"`
	Token   string `json:"token,omitempty"` // good for fifteen minutes; it is not stored
	Guild   string `json:"guild_id,omitempty"`
	Channel string `json:"channel_id"`
	Where   *struct {
		Type   int    `json:"type"`
		Parent string `json:"parent_id"`
	} `json:"channel,omitempty"`
	Member *struct {
		User  *user    `json:"user"`
		Nick  string   `json:"nick"`
		Roles []string `json:"roles,omitempty"`
	} `json:"member,omitempty"`
	User    *user `json:"user,omitempty"`
	Message *struct {
		ID string `json:"id"`
	} `json:"message,omitempty"`
	Data struct {
		Name     string  `json:"name,omitempty"`
		CustomID string  `json:"custom_id,omitempty"`
		Options  []field `json:"options,omitempty"`
		Rows     []row   `json:"components,omitempty"`
	} `json:"data"`
}

// field is an option of a command.
type field struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// row is a part of a form: a row of inputs, or a label around one.
type row struct {
	Value  string `json:"value,omitempty"`
	Inputs []row  `json:"components,omitempty"`
	Input  *row   `json:"component,omitempty"`
}

// The types of interactions, and of answers to them.
const (
	typePing    = 1
	typeCommand = 2
	typePress   = 3
	typeForm    = 5

	answerPong    = 1
	answerMessage = 4
	answerLoading = 5 // a message that says that its text comes
	answerNothing = 6 // the message stays as it is until it is edited
	answerForm    = 9
)

// Flags of a message.
const (
	flagNoEmbeds  = 1 << 2
	flagEphemeral = 1 << 6
	flagLoading   = 1 << 7 // its text comes
)

// response is the answer to an interaction; nil: none.
type response = map[string]any

// acknowledged answers a press without showing anything.
var acknowledged = response{"type": answerNothing}

// private tells the person, and nobody else.
func private(text string) response { return message(text, flagEphemeral) }

// message is an answer in the conversation. It calls nobody.
func message(text string, flags int) response {
	return response{"type": answerMessage, "data": map[string]any{
		"content": text, "flags": flags | flagNoEmbeds, "allowed_mentions": map[string]any{"parse": []string{}},
	}}
}

// isPress reports an interaction that waits for no others: a press, or a submitted form.
func isPress(data []byte) bool {
	var i struct {
		Type int `json:"type"`
	}
	return json.Unmarshal(data, &i) == nil && (i.Type == typePress || i.Type == typeForm)
}

// person is who it is, nil where it does not say.
func (i interaction) person() *user {
	if i.Member != nil && i.Member.User != nil {
		return i.Member.User
	}
	return i.User
}

// guild is the server, or direct.
func (i interaction) guild() string {
	if i.Guild == "" {
		return direct
	}
	return i.Guild
}

// at is where it came from. Its message names the interaction, so that a private answer can be given by it.
func (i interaction) at() core.Address {
	to := core.Address{Platform: Name, Channel: i.Channel}
	if w := i.Where; w != nil && isID(w.Parent) && w.Type >= typeNewsThread && w.Type <= typePrivateThread {
		to.Channel, to.Thread = w.Parent, i.Channel
	}
	if isID(i.App) && i.Token != "" {
		to.Message = interactionPrefix + i.App + "/" + i.Token
	}
	return to
}

// interactionPrefix begins an address's message that is an interaction: its application and its token follow.
const interactionPrefix = "interaction:"

// stripped is what is stored: without the token.
func (i interaction) stripped() json.RawMessage {
	i.Token = ""
	body, _ := json.Marshal(i) // of texts and JSON that was read: can't fail
	return body
}

// takeInteraction takes an interaction up to its commit, and gives the answer to it. What only shows something (a form) is answered
// at once and stores nothing.
func (d *Discord) takeInteraction(ctx context.Context, body []byte, accept core.Accept) (response, verdict) {
	var i interaction
	if err := json.Unmarshal(body, &i); err != nil {
		d.Log.Warn("a press or a command can't be read and is refused", "bytes", len(body), "err", shape(err))
		return nil, broken
	}
	if me := d.whoami().App; i.App != "" && me != "" && i.App != me {
		d.Log.Warn("a press or a command is refused: it is for another application", "application", clip(i.App))
		return nil, foreign
	}
	if i.Type == typePing {
		return response{"type": answerPong}, stored
	}
	who := i.person()
	if who == nil || !isID(who.ID) || !isID(i.ID) || !isID(i.Channel) || i.Guild != "" && !isID(i.Guild) {
		d.Log.Warn("a press or a command is refused: it does not say who or where", "type", i.Type)
		return nil, broken
	}
	if i.Guild != "" && i.Member != nil && i.Member.Roles != nil {
		d.ranks.learn(i.Guild, who.ID, i.Member.Roles)
	}
	switch i.Type {
	case typePress:
		return d.pressed(ctx, i, accept)
	case typeForm:
		return d.submitted(ctx, i, accept)
	case typeCommand:
		return d.commanded(ctx, i, accept)
	}
	d.Log.Warn("an interaction of an unknown kind came and is passed over", "type", i.Type)
	return nil, broken
}

// pressed takes the press of one of our buttons. A value that we did not seal counts for nothing, and the person is told.
func (d *Discord) pressed(ctx context.Context, i interaction, accept core.Accept) (response, verdict) {
	fields, ok := d.Signer.Open(i.Data.CustomID)
	if !ok || len(fields) < 2 {
		d.Log.Warn("a button that is not ours was pressed", "person", i.person().ID)
		return private("This button is not valid any more, so nothing was done. Ask again, or tell an admin."), stored
	}
	failed, _ := strconv.ParseInt(fields[1], 10, 64) // of the buttons below a failed event's reply; they are sealed
	switch {
	case fields[0] == actionAgain && len(fields) == 3:
		return acknowledged, d.commit(ctx, buttonEvent(i, fields, core.RetryEvent{Failed: failed}), accept)
	case fields[0] == actionNew && len(fields) == 3:
		return acknowledged, d.commit(ctx, buttonEvent(i, fields, core.ResetEvent{Failed: failed}), accept)
	case fields[1] == string(core.Approve) || fields[1] == string(core.Deny):
		return acknowledged, d.commit(ctx, vote(i, fields[0]), accept)
	case fields[1] == choiceReason, fields[1] == choiceConfirm, fields[1] == choiceArguments:
		return d.show(ctx, i, fields[1], core.ApprovalID(fields[0])), stored
	}
	d.Log.Warn("a button of an unknown kind was pressed", "kind", clip(fields[1]))
	return private("This button is of another gatehouse than the one that runs here, so nothing was done. Ask again."), stored
}

// buttonEvent is the event of the button below a failed event's reply: one event, however often it is pressed. Its fields are the
// button's name, the failed event, and its conversation.
func buttonEvent(i interaction, fields []string, body core.EventBody) core.Event {
	to := i.at()
	to.Message = ""
	if i.Message != nil {
		to.Message = i.Message.ID
	}
	return core.Event{
		Platform: Name, ID: "press/" + fields[0] + "/" + fields[1], Conversation: core.ConversationID(fields[2]), Body: body,
		Actor: actor(i.person().ID), Address: to,
	}
}

// vote is the event of a decision. The interaction's id tells one press from the next.
func vote(i interaction, approval string) core.Event {
	to := i.at()
	return core.Event{
		Platform: Name, ID: "vote/" + approval + "/" + i.person().ID + "/" + i.ID, Conversation: conversationOf(i.guild(), to), Body: core.ClickEvent{Approval: core.ApprovalID(approval)},
		Actor: actor(i.person().ID), Address: to, Payload: i.stripped(),
	}
}

// submitted takes the form that asked for a reason, or that asked again before something dangerous.
func (d *Discord) submitted(ctx context.Context, i interaction, accept core.Accept) (response, verdict) {
	fields, ok := d.Signer.Open(i.Data.CustomID)
	if !ok || len(fields) != 2 || fields[1] != choiceReason && fields[1] != choiceConfirm {
		d.Log.Warn("a form that is not ours was submitted", "person", i.person().ID)
		return private("This form is not valid any more, so nothing was done. Press the button again."), stored
	}
	if fields[1] == choiceConfirm && !confirmed(i) {
		return private("You did not type " + confirmWord + ", so nothing was decided."), stored
	}
	return acknowledged, d.commit(ctx, vote(i, fields[0]), accept)
}

// confirmed reports whether the form that asks again was answered with the word.
func confirmed(i interaction) bool { return strings.EqualFold(inputOf(i.Data.Rows), confirmWord) }

// show answers a press that only shows something: a form, whose submission is the event, or all arguments. It must be the first answer
// to the press.
func (d *Discord) show(ctx context.Context, i interaction, what string, id core.ApprovalID) response {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	card, err := d.Cards.Card(ctx, id, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		return private("This approval is not known any more.")
	case err != nil:
		d.Log.Warn("what a button shows could not be shown", "button", what, "err", err)
		return private("It could not be shown, so nothing was decided. Press again.")
	case what == choiceArguments:
		return d.arguments(i, card)
	case card.State != core.Open:
		return private(standsAs(card))
	}
	value := d.Signer.Seal(string(id), what)
	if what == choiceConfirm {
		return response{"type": answerForm, "data": d.out.paint.confirmModal(value, card)}
	}
	return response{"type": answerForm, "data": d.out.paint.reasonModal(value, card)}
}

// arguments shows a call's arguments to whoever pressed: the first of them in the answer, the rest after it.
func (d *Discord) arguments(i interaction, card core.Card) response {
	texts := d.out.paint.argumentsMessages(card)
	if len(texts) > 1 && i.Token != "" && isID(i.App) {
		d.asides.Go(func() { d.followUp(i, texts[1:]) })
	}
	return private(texts[0])
}

// Numbers of what is said after the answer to an interaction.
const (
	followTime  = 20 * time.Second // for all of it
	followEarly = 300 * time.Millisecond
	followTries = 10
)

// followUp tells the person more. It can't be said before the answer was taken, so it is tried for a while. It is a courtesy: nobody
// waits for it.
func (d *Discord) followUp(i interaction, texts []string) {
	ctx, cancel := context.WithTimeout(context.Background(), followTime)
	defer cancel()
	tries := 0
	for len(texts) > 0 {
		err := d.call(ctx, http.MethodPost, "/webhooks/"+i.App+"/"+i.Token, private(texts[0])["data"], nil)
		if err == nil {
			texts = texts[1:]
			continue
		}
		if tries++; tries == followTries || ctx.Err() != nil {
			d.Log.Info("the rest of the arguments could not be shown", "category", core.CategoryOf(err))
			return
		}
		d.sleep(ctx, max(followEarly, core.RetryAfterOf(err)))
	}
}

// standsAs says in words where a decided approval stands.
func standsAs(c core.Card) string {
	a := core.Approval{State: c.State, DecidedBy: core.Actor{Name: strings.TrimPrefix(c.DecidedBy, Name+":")}, DecidedAt: c.DecidedAt}
	return a.StateSentence()
}

// answerTime is how long the answer to an interaction may take: Discord waits three seconds.
const answerTime = 2500 * time.Millisecond

// respond answers an interaction that came over the gateway, beside everything else.
func (d *Discord) respond(body []byte, r response) {
	var i interaction
	if r == nil || json.Unmarshal(body, &i) != nil || i.Token == "" || !isID(i.ID) {
		return
	}
	d.asides.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), answerTime)
		defer cancel()
		err := d.call(ctx, http.MethodPost, "/interactions/"+i.ID+"/"+i.Token+"/callback", r, nil)
		if err != nil {
			d.Log.Info("an interaction could not be answered; what it asked for is done", "type", strconv.Itoa(i.Type), "category", core.CategoryOf(err))
		}
	})
}

// inputOf reads a form's one field.
func inputOf(rows []row) string {
	for _, r := range rows {
		if r.Input != nil {
			r.Inputs = append(r.Inputs, *r.Input)
		}
		if r.Value != "" {
			return strings.TrimSpace(r.Value)
		}
		if text := inputOf(r.Inputs); text != "" {
			return text
		}
	}
	return ""
}
