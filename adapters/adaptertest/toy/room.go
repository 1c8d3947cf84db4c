package toy

import (
	"crypto/rand"
	"strings"
	"sync"
	"testing"

	"gatehouse/core"
)

const conversation core.ConversationID = "toy:room-den"

var here = core.Address{Platform: Name, Channel: "room-den"}

type item struct{ Text, id, who, pressed string }

type message struct {
	key, text string
	buttons   map[core.Choice]string
}

// Room is the toy's fake: a room with Ann and Bob in it.
type Room struct {
	said  chan item
	shown sync.Map // the messages, by their keys
}

var rooms sync.Map // by their tokens

// Enter returns the room of a token.
func Enter(token string) *Room {
	r, _ := rooms.LoadOrStore(token, &Room{said: make(chan item, 99)})
	return r.(*Room)
}

// Say has Ann say something.
func (r *Room) Say(_ testing.TB, text string) { r.said <- item{text, rand.Text(), "ann", ""} }

// Click has Bob press a button of the message whose key has the approval in it.
func (r *Room) Click(_ testing.TB, c core.Click) {
	for _, m := range r.shown.Range {
		if m := m.(message); strings.Contains(m.key, string(c.Approval)) && m.buttons[c.Choice] != "" {
			r.said <- item{"", rand.Text(), "bob", m.buttons[c.Choice]}
		}
	}
}

// Conversation is the room's.
func (r *Room) Conversation() (core.Address, core.ConversationID) { return here, conversation }

// Shown is all that can be read.
func (r *Room) Shown() (text string) {
	for _, m := range r.shown.Range {
		text += m.(message).text + "\n"
	}
	return text
}

// SideEffects are the bells.
func (r *Room) SideEffects() []string { return make([]string, strings.Count(r.Shown(), "\a")) }

// Close leaves the room.
func (r *Room) Close() {}
