package discordtest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gatehouse/adapters/discord/discordtest/internal/gateway"
	"gatehouse/adapters/discord/discordtest/internal/wire"
	"gatehouse/adapters/internal/fakeserver"
)

// How long the first answer to an interaction may take, and how long its token is valid.
const (
	FirstAnswerWithin = 3 * time.Second
	TokenLifetime     = 15 * time.Minute
)

// InteractionKind is Discord's number of an interaction type.
type InteractionKind int

// The kinds of interactions.
const (
	Ping      InteractionKind = 1
	Command   InteractionKind = 2
	Component InteractionKind = 3
	Submit    InteractionKind = 5
)

// CallbackKind is Discord's number of a first answer's type.
type CallbackKind int

// The kinds of first answers.
const (
	Pong           CallbackKind = 1
	Reply          CallbackKind = 4
	DeferredReply  CallbackKind = 5
	DeferredUpdate CallbackKind = 6
	Update         CallbackKind = 7
	ShowModal      CallbackKind = 9
)

// Interaction is a button press, a command or a submitted modal, with the app's answer.
type Interaction struct {
	s       *Server
	ID      string
	Token   string
	Kind    InteractionKind
	User    string
	Channel string
	Message string // the message with the button, if there is one
	At      time.Time
	body    []byte
	how     actionOptions
	done    chan struct{} // closed once it is answered or has failed

	// The rest is under the server's lock.
	answered   CallbackKind
	answeredAt time.Time
	over       bool
	failed     string
	original   string // the message that is its answer
	attempt    *Attempt
	followUps  int
}

// Attempt is the delivery of an interaction over HTTP.
type Attempt struct {
	URL    string
	Status int
	Answer []byte
	Took   time.Duration // real time until the answer
	Err    string
}

// interact sends an interaction to the app: to the URL if one is set, otherwise over the gateway. The caller holds the
// lock.
func (s *Server) interact(i *Interaction, data object, c *channel, h actionOptions) *Interaction {
	i.s, i.how, i.At, i.done = s, h, s.o.Now(), make(chan struct{})
	i.ID, i.Token = s.newID(), wire.Secret()+wire.Secret()
	o := object{
		"id": i.ID, "application_id": s.o.ApplicationID, "type": int(i.Kind), "token": i.Token, "version": 1,
		"data": data, "locale": "en-US",
		"entitlements": []object{}, "attachment_size_limit": 10 << 20,
	}
	guild := ""
	if c != nil {
		i.Channel, guild = c.ID, c.Guild
		o["channel_id"], o["channel"] = c.ID, s.wireChannel(c)
		o["app_permissions"] = strconv.FormatInt(s.permissions(c, s.o.BotUserID), 10)
	}
	if g := s.guilds[guild]; g != nil {
		member := s.wireMember(g, i.User, true)
		member["permissions"] = strconv.FormatInt(s.permissions(c, i.User), 10)
		o["guild_id"], o["guild_locale"], o["member"], o["context"] = g.ID, "en-US", member, 0
		o["guild"] = object{"id": g.ID, "locale": "en-US", "features": []string{}}
		o["authorizing_integration_owners"] = object{"0": g.ID}
	} else if i.User != "" {
		o["user"], o["context"], o["authorizing_integration_owners"] = s.wireUser(i.User), 1, object{"0": "0"}
	}
	if i.Message != "" {
		if r := c.find(i.Message); r != nil {
			o["message"] = s.wireMessage(r.Message)
		}
	}
	i.body = fakeserver.JSON(o)
	s.interactions = append(s.interactions, i)
	s.byToken[i.Token] = i
	s.changed()
	url := s.interactURL
	if h.urlOnce != "" {
		url = h.urlOnce
	}
	switch {
	case h.noEvent:
	case url != "":
		if s.ctx.Err() == nil {
			s.host.Go(func() { s.post(i, url) })
		}
	default:
		for range max(1, h.copies) {
			s.emit(nil, gateway.Event{Name: "INTERACTION_CREATE", Guild: guild, Full: o})
		}
	}
	return i
}

// fail ends an interaction that can't be answered any more. The caller holds the lock.
func (i *Interaction) fail(why string) {
	if i.over {
		return
	}
	i.over, i.failed = true, why
	close(i.done)
	i.s.changed()
}

// Body returns the interaction as JSON.
func (i *Interaction) Body() []byte { return slices.Clone(i.body) }

// InteractionState is the state of an interaction at one moment.
type InteractionState struct {
	Answered   CallbackKind // 0 if it is not
	AnsweredAt time.Time
	Failed     string // the error that the user sees, "" if there is none
	Original   string // the id of the message that is its answer
	FollowUps  int
	Attempt    *Attempt // over HTTP
}

// State returns the interaction's current state. An interaction that is not answered in time, by the clock, has failed.
func (i *Interaction) State() InteractionState {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	state := InteractionState{
		Answered: i.answered, AnsweredAt: i.answeredAt, Failed: i.failed, Original: i.original, FollowUps: i.followUps,
		Attempt: i.attempt,
	}
	if i.answered == 0 && i.failed == "" && i.s.o.Now().Sub(i.At) > i.s.o.AnswerWithin {
		state.Failed = fmt.Sprintf("no answer within %s", i.s.o.AnswerWithin)
	}
	return state
}

// Answered reports whether the first answer has come.
func (i *Interaction) Answered() bool { return i.State().Answered != 0 }

// Wait waits for the first answer. It returns an error if none can come any more.
func (i *Interaction) Wait(ctx context.Context) error {
	select {
	case <-i.done:
	case <-ctx.Done():
		return fmt.Errorf("interaction %s is not answered: %w", i.ID, ctx.Err())
	}
	if state := i.State(); state.Answered == 0 {
		return fmt.Errorf("interaction %s is not answered: %s", i.ID, state.Failed)
	}
	return nil
}

// Shown returns the message that is the interaction's answer, ephemeral or not.
func (i *Interaction) Shown() (Message, bool) {
	i.s.mu.Lock()
	defer i.s.mu.Unlock()
	c := i.s.channels[i.Channel]
	if i.original == "" || c == nil {
		return Message{}, false
	}
	r := c.find(i.original)
	if r == nil {
		return Message{}, false
	}
	return r.Message, true
}

// Interactions returns all interactions so far.
func (s *Server) Interactions() []*Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.interactions)
}
