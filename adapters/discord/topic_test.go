package discord

import (
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// Servers that anybody can find allow no thread's name with certain words, whatever the message says.
func TestAThreadWhoseNameIsRefusedHasAnother(t *testing.T) {
	w := newTown(t, nil)
	to := w.asked("a word that is not allowed here")
	w.Inject(discordtest.Fault{Route: discordtest.StartThread, Trouble: discordtest.Refused(400, codeInvalidForm, "Invalid Form Body"), Times: 1})
	w.say(answerTo("reply/1", "Hello", to))
	if thread, ok := w.Channel(to.Thread); !ok || thread.Name != "Conversation" || len(w.FromBot(to.Thread)) != 1 {
		t.Error(w.Dump())
	}
}
