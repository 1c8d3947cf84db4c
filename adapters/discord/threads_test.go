package discord

import (
	"testing"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/discord/internal/memo"
)

// Some servers refuse thread names with certain words. The thread then has another name, and stays open for a week
// without messages.
func TestThreadNameIsReplacedIfRefused(t *testing.T) {
	for code, status := range map[int]int{discordgo.ErrCodeInvalidFormBody: 400, 200001: 400, 200000: 400} {
		w := newRig(t, nil)
		to := w.asked("a word that is not allowed here")
		w.Inject(
			discordtest.Fault{
				Endpoint: discordtest.StartThread,
				Trouble:  discordtest.Refused(status, code, "Title was blocked by automatic moderation"), Times: 1,
			})
		w.say(answerTo("reply/1", "Hello", to))
		if thread, ok := w.Channel(to.Thread); !ok || thread.Name != "Conversation" || thread.AutoArchive != 7*24*60 ||
			len(w.FromBot(to.Thread)) != 1 {
			t.Errorf("%d: %+v\n%s", code, thread, w.Dump())
		}
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
