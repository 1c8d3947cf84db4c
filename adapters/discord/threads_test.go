package discord

import (
	"testing"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/discord/internal/memo"
)

// Some servers refuse thread names with certain words.
func TestThreadNameIsReplacedIfRefused(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("a word that is not allowed here")
	w.Inject(discordtest.Fault{Endpoint: discordtest.StartThread, Trouble: discordtest.Refused(400, discordgo.ErrCodeInvalidFormBody, "Invalid Form Body"), Times: 1})
	w.say(answerTo("reply/1", "Hello", to))
	if thread, ok := w.Channel(to.Thread); !ok || thread.Name != "Conversation" || len(w.FromBot(to.Thread)) != 1 {
		t.Error(w.Dump())
	}
}

// A thread still exists after its first message is deleted.
func TestThreadOfADeletedMessageIsUsed(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("add milk")
	w.say(answerTo("reply/1", "I ask for an approval", to))
	w.alice.Deletes(general, to.Message)
	w.d.threads = memo.New[bool](maxRemembered) // another process goes on
	w.say(answerTo("reply/2", "It is done", to))
	if len(w.FromBot(to.Thread)) != 2 || len(w.FromBot(general)) != 0 {
		t.Error(w.Dump())
	}
}
