package slack

import (
	"context"
	"time"

	api "github.com/slack-go/slack"
)

// whisperTime is how long a word to one person may take: nobody waits for it.
const whisperTime = 5 * time.Second

// whisper tells the person who pressed a button, and nobody else, what is wrong with it. It is a courtesy: it is tried once, beside
// the acknowledgement that Slack waits for.
func (s *Slack) whisper(i interaction, text string) {
	at := i.at()
	if at.Channel == "" {
		return
	}
	s.aside(func() {
		ctx, cancel := context.WithTimeout(context.Background(), whisperTime)
		defer cancel()
		said := append([]api.MsgOption{api.MsgOptionText(text, true)}, inThread(at.Thread)...)
		if _, err := s.api.PostEphemeralContext(ctx, at.Channel, i.User.ID, said...); err != nil {
			s.Log.Info("a word to whoever pressed a button could not be said", "err", s.heard(err))
		}
	})
}
