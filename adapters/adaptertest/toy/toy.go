// Package toy is a whole platform in one folder, with its fake, for tests: what a new platform needs, and no more.
package toy

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Name is the platform's name.
const Name = "toy"

// Config is the toy's driver.
type Config struct {
	Token string `envconfig:"TOY_TOKEN" secret:"all" from:"the lid of the toy" help:"The room's token; enables the toy."`
}

// Name is "toy".
func (*Config) Name() string { return Name }

// Title is "Toy".
func (*Config) Title() string { return "Toy" }

// IDs are words.
func (*Config) IDs() core.IDs {
	return core.IDs{
		Person:  core.IDForm{Like: regexp.MustCompile(`^[a-z]+$`), Example: "toy:ann"},
		Group:   core.IDForm{Like: regexp.MustCompile(`^team-[a-z]+$`), Example: "toy:team-ops"},
		Channel: core.IDForm{Like: regexp.MustCompile(`^room-[a-z]+$`), Example: "toy:room-den"},
		Wanted:  "id of a person or team of Toy", Remedy: "write one, such as toy:ann or toy:team-ops",
	}
}

// Settings are c.
func (c *Config) Settings() core.Settings { return c }

// Configured reports whether there is a token.
func (c *Config) Configured() bool { return c.Token != "" }

// Validate finds no fault.
func (*Config) Validate() []string { return nil }

// Open makes the platform.
func (c *Config) Open(d core.Deps) (core.Platform, error) { return &Toy{c, d, Enter(c.Token)}, nil }

// Check always finds the room.
func (*Config) Check(context.Context, core.Checkup) []core.Check {
	return []core.Check{{Name: "toy room", State: core.CheckOK, What: "The room is there."}}
}

type manifest struct {
	Lid string `default:"red" help:"The colour of the lid."`
}

// Manifest is gatehouse manifest toy.
func (*Config) Manifest() any {
	return &struct {
		Toy manifest `cmd:"" help:"Print what is written on the lid of the toy."`
	}{}
}

// Run prints it.
func (m manifest) Run(out io.Writer) error { return json.NewEncoder(out).Encode(m) }

// Toy is the platform.
type Toy struct {
	*Config
	core.Deps
	room *Room
}

// Run takes one event after the other, each until it is stored.
func (t *Toy) Run(ctx context.Context, accept core.Accept) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case i := <-t.room.said:
			for e, ok := t.event(i); ok && ctx.Err() == nil; outbound.Sleep(ctx, 1e6) {
				if _, err := accept(ctx, e); err == nil {
					break
				}
			}
		}
	}
}

// event is that of a message or a press; ok is false for a button that this gatehouse did not make.
func (t *Toy) event(i item) (e core.Event, ok bool) {
	e = core.Event{
		Platform: Name, ID: i.id, Conversation: conversation, Address: here,
		Actor: core.Actor{ID: Name + ":" + i.who, Name: i.who}, Body: core.MessageEvent{},
	}
	if i.pressed == "" {
		e.Payload, _ = json.Marshal(i)
		return e, true
	}
	at := desk.Desk{Platform: Name, Signer: t.Signer, Cards: t.Cards, Texts: wording.New(t.Words), Log: t.Log}
	press := desk.Press{Who: e.Actor, Conversation: conversation, Address: here, ID: i.id}
	decided, ok := at.Press(context.Background(), at.Open(i.pressed), press).(desk.Event)
	return decided.Event, ok
}

// Parse reads a message.
func (t *Toy) Parse(_ context.Context, e core.Event) (in core.Input, err error) {
	var p struct{ Text string }
	if err := json.Unmarshal(e.Payload, &p); err != nil || !utf8.Valid(e.Payload) {
		return in, core.Errorf(core.ChatMessageShapeInvalid, "That can't be read. Send it again.")
	}
	in, err = inbound.Heard{Alone: true, Text: p.Text}.Input()
	return in, err
}

// Post shows a message; whatever its length, it has one part.
func (t *Toy) Post(ctx context.Context, d core.Delivery) (core.Ref, bool, error) {
	if d.Kind == core.PostWorking {
		return "", false, nil
	}
	return core.Ref(d.Key), false, t.Edit(ctx, core.Ref(d.Key), d)
}

// Edit shows it as it is now.
func (t *Toy) Edit(_ context.Context, ref core.Ref, d core.Delivery) error {
	m := message{string(ref), d.Text, map[core.Choice]string{}}
	if c := d.Card; c != nil {
		m.text = fmt.Sprintln(c.State, c.Tool, c.Summary, c.Arguments, c.Requester, c.DecidedBy, c.Reason, c.Answer)
		for _, choice := range []core.Choice{core.Approve, core.Deny} {
			m.buttons[choice] = t.Signer.Seal(string(c.Approval), string(choice))
		}
	}
	m.text = safetext.Clean(m.text)
	t.room.shown.Store(m.key, m)
	return nil
}

// Find finds nothing: what was shown twice is there once.
func (t *Toy) Find(context.Context, core.Delivery) (core.Found, error) { return core.Found{}, nil }
