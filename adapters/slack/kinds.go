package slack

import (
	"context"
	"strings"
	"sync"
	"time"

	api "github.com/slack-go/slack"
)

// Numbers of what is remembered of conversations.
const (
	kindTime     = time.Second // how long Slack may take to tell; the event waits for its commit meanwhile
	kindForgiven = time.Minute // after which Slack is asked again, where it could not tell
)

// The kinds of conversations, in the words of events.
const (
	kindChannel = "channel"
	kindDirect  = "im"
	kindGroupDM = "mpim"
)

// kinds knows which conversations are group direct messages. A mention does not say what it was said in, the message event of the
// same post does: whichever of them comes first, the post has to get the same conversation.
type kinds struct {
	slack *Slack

	mu    sync.Mutex
	known map[string]remembrance[string]
}

func newKinds(s *Slack) *kinds { return &kinds{slack: s, known: map[string]remembrance[string]{}} }

// of gives the kind of an event's conversation: its own word, what was seen before, else Slack's.
func (k *kinds) of(ctx context.Context, o occurrence) string {
	if o.ChannelType != "" {
		k.remember(o.Channel, o.ChannelType, time.Time{})
		return o.ChannelType
	}
	if strings.HasPrefix(o.Channel, "D") {
		return kindDirect
	}
	k.mu.Lock()
	seen, ok := k.known[o.Channel]
	k.mu.Unlock()
	if ok && (seen.until.IsZero() || k.slack.Now().Before(seen.until)) {
		return seen.what
	}
	return k.ask(ctx, o.Channel)
}

func (k *kinds) ask(ctx context.Context, channel string) string {
	ctx, cancel := context.WithTimeout(ctx, kindTime)
	defer cancel()
	c, err := k.slack.api.GetConversationInfoContext(ctx, &api.GetConversationInfoInput{ChannelID: channel})
	kind, until := kindChannel, time.Time{}
	switch {
	case err != nil: // most are channels
		until = k.slack.Now().Add(kindForgiven)
	case c.IsMpIM:
		kind = kindGroupDM
	}
	return k.remember(channel, kind, until)
}

// remember keeps a kind, until a time or for good, and gives the one that stands: a guess makes nothing unknown that is known.
func (k *kinds) remember(channel, kind string, until time.Time) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if seen, ok := k.known[channel]; ok && seen.until.IsZero() && !until.IsZero() {
		return seen.what
	}
	if len(k.known) >= remembered {
		clear(k.known)
	}
	k.known[channel] = remembrance[string]{kind, until}
	return kind
}
