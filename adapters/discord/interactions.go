package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"gatehouse/adapters/discord/internal/heard"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/internal/webhook"
	"gatehouse/core"
)

// interaction is the part that is read of a button press, a submitted form or a slash command. discordgo.Interaction
// would refuse one with a component that it does not know.
type interaction struct {
	ID      string                    `json:"id"`
	App     string                    `json:"application_id"`
	Type    discordgo.InteractionType `json:"type"`
	Token   string                    `json:"token,omitempty"` // valid for fifteen minutes; not in any event
	Guild   string                    `json:"guild_id,omitempty"`
	Channel string                    `json:"channel_id"`
	In      struct {
		Type   discordgo.ChannelType `json:"type"`
		Parent string                `json:"parent_id"`
	} `json:"channel,omitzero"`
	Member  *heard.Member `json:"member,omitempty"`
	User    *heard.User   `json:"user,omitempty"`
	Message struct {
		ID    string                 `json:"id"`
		Flags discordgo.MessageFlags `json:"flags,omitempty"`
	} `json:"message,omitzero"`
	Data struct {
		Name       string   `json:"name,omitempty"`
		CustomID   string   `json:"custom_id,omitempty"`
		Options    []option `json:"options,omitempty"`
		Components []part   `json:"components,omitempty"`
		Values     []string `json:"values,omitempty"` // of a menu
	} `json:"data"`

	Answer string `json:"gatehouse_answer,omitempty"` // of a stored one (OldClick); Discord sends no such field
}

// option is an option of a command.
type option struct {
	Value json.RawMessage `json:"value"`
}

// part is a part of a form: a label around an input, or a row of inputs.
type part struct {
	Input  filled   `json:"component,omitzero"`
	Inputs []filled `json:"components,omitempty"`
}

// filled is an input of a form, as a person filled it in.
type filled struct {
	CustomID string   `json:"custom_id,omitempty"`
	Value    string   `json:"value,omitempty"`
	Values   []string `json:"values,omitempty"` // of a menu
}

// response is the first answer to an interaction.
type response struct {
	Type  discordgo.InteractionResponseType `json:"type"`
	Data  any                               `json:"data,omitempty"`
	files []*discordgo.File                 // uploaded with it
	event *core.Event                       // what the interaction asks for, committed before the answer; nil: nothing
	// the card that it shows with disabled buttons, and that must be redrawn after it
	redraw core.ApprovalID
}

// acknowledged answers a press without showing anything.
func acknowledged() *response {
	return &response{Type: discordgo.InteractionResponseDeferredMessageUpdate}
}

// ephemeral makes an answer that only the person sees.
func ephemeral(text string) *response { return ephemeralMessage(draw.Message{Text: text}) }

// ephemeralMessage makes an answer of a message that only the person sees.
func ephemeralMessage(m draw.Message) *response {
	out := m.Outgoing()
	out.Flags |= discordgo.MessageFlagsEphemeral
	return &response{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: out, files: m.Uploads()}
}

// person returns the interaction's user, nil if it names none.
func (i interaction) person() *heard.User {
	if i.Member != nil && i.Member.User != nil {
		return i.Member.User
	}
	return i.User
}

func (i interaction) actor() core.Actor { return i.person().Actor(i.Member) }

// presser is the actor with their roles in the server of the interaction, which Discord says with each press: they
// count for that press alone.
func (i interaction) presser() core.Actor {
	who := i.actor()
	if i.Guild != "" && i.Member != nil {
		for _, role := range i.Member.Roles {
			who.Groups = append(who.Groups, address.Platform+":role:"+role)
		}
	}
	return who
}

// address returns where the interaction came from. Its message is prefix and the interaction's id, or "" if prefix is
// "" or the interaction can't be answered.
func (i interaction) address(prefix string) core.Address {
	to := core.Address{Platform: address.Platform, Channel: i.Channel}
	if snowflake.Valid(i.In.Parent) && isThread(i.In.Type) {
		to.Channel, to.Thread = i.In.Parent, i.Channel
	}
	if prefix != "" && i.Token != "" && snowflake.Valid(i.App) {
		to.Message = prefix + i.ID
		if prefix == address.PrivatePrefix {
			to.Message += ":" + i.person().ID
		}
	}
	return to
}

// conversation returns the conversation that the interaction came from.
func (i interaction) conversation() core.ConversationID {
	return address.Conversation(i.Guild, i.address(""))
}

// payload returns what is stored of the interaction: all but the token.
func (i interaction) payload() json.RawMessage {
	i.Token = ""
	body, _ := json.Marshal(i) // can't fail: it has only texts and JSON that was read
	return body
}

// text returns a command's first text option: the question.
func (i interaction) text() string {
	for _, o := range i.Data.Options {
		var text string
		if json.Unmarshal(o.Value, &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// typed is what was typed or chosen in a form, by the names of its inputs.
func (i interaction) typed() map[string]string {
	typed := map[string]string{}
	for _, p := range i.Data.Components {
		for _, in := range append(p.Inputs, p.Input) {
			if in.CustomID != "" {
				typed[in.CustomID] = in.Value + strings.Join(in.Values, "") // of a menu, which has one at most
			}
		}
	}
	return typed
}

// isPrivate reports whether the button that was pressed, or that opened the form, is below a text that only the person
// sees. A card is made of components alone, also where only one person sees it.
func (i interaction) isPrivate() bool {
	const kinds = discordgo.MessageFlagsEphemeral | discordgo.MessageFlagsIsComponentsV2
	return i.Message.Flags&kinds == discordgo.MessageFlagsEphemeral
}

// answerTimeout is how long the answer to an interaction may take: Discord waits three seconds.
const answerTimeout = 2500 * time.Millisecond

// pathInteractions is the path to which Discord posts interactions.
const pathInteractions = "/discord/interactions"

// The headers of a signed request.
const (
	headerSignature = "X-Signature-Ed25519"
	headerTime      = "X-Signature-Timestamp"
)

// Routes returns the paths that Discord posts to; nil without a public key. Each request is answered after its commit:
// 200, or 202 if the answer follows by a call; 400 if it can't be read or is of an unknown kind; 403 if it is for
// another application. A request that is not verified is refused as adapters/internal/webhook describes; Discord tests
// this before it accepts the address. Discord sends nothing twice, so if a request could not be stored, the answer says
// so to the person.
func (d *Discord) Routes(accept core.Accept) map[string]http.Handler {
	key, err := hex.DecodeString(d.Config.PublicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil
	}
	requests := webhook.NewReader(webhook.Options{
		Signature: headerSignature, Time: headerTime, Now: d.Now, Log: d.Log, Once: true,
		Verifier: verifier{key}, Clock: d.rest.Clock(),
	})
	return map[string]http.Handler{
		"POST " + pathInteractions: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, ok := requests.Read(w, r, "application/json"); ok {
				d.serve(w, r, body, accept)
			}
		}),
	}
}

func (d *Discord) serve(w http.ResponseWriter, r *http.Request, body []byte, accept core.Accept) {
	ctx, cancel := webhook.Lasting(r)
	defer cancel()
	i, answer, result := d.takeInteraction(ctx, body, accept)
	switch result {
	case inbound.Foreign:
		http.Error(w, "this gatehouse serves another application", http.StatusForbidden)
		return
	case inbound.Malformed:
		http.Error(w, "the body can't be read", http.StatusBadRequest) // it was logged
		return
	case inbound.NotStored:
		answer = ephemeral(d.desk.PressUnstored)
		if i.Type == discordgo.InteractionApplicationCommand {
			answer = ephemeral("Your command could not be stored, so nothing was done. Send the command again.")
		}
	}
	if len(answer.files) > 0 {
		d.respond(i, answer)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // fails if Discord has disconnected; there is nothing to do then
	if answer.redraw != "" {
		d.background.Go(func() {
			d.sleep(d.running(), takesEffect)
			d.redraw(answer.redraw)
		})
	}
}

// verifier knows the signatures of the application with this public key.
type verifier struct{ key ed25519.PublicKey }

// Valid reports whether a request's signature, over its time and its body, is right. discordgo's VerifyInteraction does
// the same, but copies the body several times, and anybody can send one.
func (v verifier) Valid(h http.Header, body []byte) bool {
	signature, err := hex.DecodeString(h.Get(headerSignature))
	return err == nil && ed25519.Verify(v.key, append([]byte(h.Get(headerTime)), body...), signature)
}

// storeAgain is the log's text for what follows when an event was not stored.
const storeAgain = "it is tried again"

// takeInteraction processes an interaction up to its commit, and returns the answer. An interaction that only shows
// something (a form) is answered at once; nothing is stored.
func (d *Discord) takeInteraction(
	ctx context.Context, body []byte, accept core.Accept,
) (interaction, *response, inbound.Result) {
	var i interaction
	if err := inbound.Decode(body, &i); err != nil {
		d.Log.Warn("a press or a command can't be read and is refused", "bytes", len(body),
			"err", inbound.JSONFault(err))
		return i, nil, inbound.Malformed
	}
	if me := d.whoami().App; i.App != "" && me != "" && i.App != me {
		d.Log.Warn("a press or a command is refused: it is for another application",
			"application", safetext.Clip(i.App))
		return i, nil, inbound.Foreign
	}
	if i.Type == discordgo.InteractionPing {
		return i, &response{Type: discordgo.InteractionResponsePong}, inbound.Stored
	}
	who := i.person()
	if who == nil || !snowflake.Valid(who.ID, i.ID, i.Channel) || i.Guild != "" && !snowflake.Valid(i.Guild) {
		d.Log.Warn("a press or a command is refused: it names no person or no channel", "type", i.Type)
		return i, nil, inbound.Malformed
	}
	if who.Bot || d.isBot(address.Actor(who.ID)) { // Discord sends none
		d.Log.Warn("a press or a command is refused: a bot can't decide", "person", who.ID)
		return i, nil, inbound.Malformed
	}
	if i.Guild != "" && i.Member != nil && i.Member.Roles != nil {
		d.guilds.SetMember(i.Guild, who.ID, i.Member.Roles)
	}
	var answer *response
	switch i.Type {
	case discordgo.InteractionMessageComponent, discordgo.InteractionModalSubmit:
		answer = d.handlePress(ctx, i)
	case discordgo.InteractionApplicationCommand:
		answer = handleCommand(i, d.Config.helpText())
	default:
		d.Log.Warn("an interaction of an unknown kind is ignored", "type", i.Type)
		return i, nil, inbound.Malformed
	}
	event := answer.event
	if event == nil {
		return i, answer, inbound.Stored
	}
	if address.IsInteraction(event.Address) {
		if err := d.saveToken(ctx, i); err != nil { // before the event, so that the process that handles it can answer
			d.Log.Warn("an interaction could not be stored; it is tried again", "category", core.CategoryOf(err),
				"err", err)
			return i, answer, inbound.NotStored
		}
	}
	return i, answer, inbound.Commit(ctx, d.Log, *event, accept, storeAgain)
}

// respond answers an interaction by a call, concurrently.
func (d *Discord) respond(i interaction, r *response) {
	if i.Token == "" || !snowflake.Valid(i.ID) {
		return
	}
	d.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
		defer cancel()
		var body any = r
		if len(r.files) > 0 {
			body = rest.Form{Payload: r, Files: r.files}
		}
		if err := d.rest.Call(ctx, http.MethodPost, discordgo.EndpointInteractionResponse(i.ID, i.Token), body,
			nil); err != nil {
			d.Log.Info("an interaction could not be answered; the request itself was processed", "type", i.Type,
				"category", core.CategoryOf(err))
		}
		if r.redraw != "" {
			d.redraw(r.redraw)
		}
	})
}
