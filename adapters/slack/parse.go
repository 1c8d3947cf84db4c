package slack

import (
	"cmp"
	"context"
	"strings"

	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
)

// Parse reads a person's message: what they wrote, what it points at, and its files. In a conversation of several
// people it begins with the speaker.
func (s *Slack) Parse(ctx context.Context, e core.Event) (in core.Input, err error) {
	var body envelope
	var m messageEvent
	if inbound.Decode(e.Payload, &body) != nil || inbound.Decode(body.Event, &m) != nil ||
		m.User == "" && !s.isBot(e.Actor) ||
		!strings.Contains(string(body.Event), `"text"`) {
		return in, core.Errorf(core.ChatMessageShapeInvalid,
			"The message from Slack could not be read. Please send it again.")
	}
	if only, err := s.onlyBots(ctx, e); only || err != nil {
		s.unheard(m)
		return core.Input{Ignored: inbound.TooManyBots}, err
	}
	b, _ := s.botOf(body)
	direct := m.ChannelType == slackevents.ChannelTypeIM || m.ChannelType == "" && strings.HasPrefix(m.Channel, "D")
	h := inbound.Heard{Alone: direct, Mention: !direct && s.needsMention(e, m)}
	said, names := heard.Read(m.Message), s.newNames()
	names.hint(m.Message)
	if !direct || len(said.Quoted)+len(said.Files) > 0 {
		names.learn(ctx, heard.Mentioning(e.Actor.ID))
	}
	names.learn(ctx, said.Texts()...)
	h.Text = mrkdwn.Plain(heard.CutMention(said.Text, s.mentionIDs(b)...), names.known)
	thread, err := s.above(ctx, b, e, m, names, direct)
	if err != nil {
		return in, err
	}
	h.Points = append(thread, said.Points(names.known)...)
	if !direct || len(h.Points)+len(said.Files) > 0 || inbound.Labelled(h.Text) {
		h.Speaker = s.speaker(ctx, e.Actor)
	}
	files, err := s.filesOf(ctx, m.Channel, said.Files, names)
	if err != nil {
		return in, err
	}
	if h.Files, err = inbound.Files(ctx, files, s.fetcher(e)); err != nil {
		return in, err
	}
	h.Fetched = len(h.Points)+len(files) > 0
	return h.Input()
}

// needsMention reports whether the bot is answering only because it was mentioned.
func (s *Slack) needsMention(e core.Event, m messageEvent) bool {
	kind := m.ChannelType
	if kind == "" { // as in the event of a mention
		kind, _ = s.channels.Get(m.Channel)
	}
	return !e.FollowUp && (kind != slackevents.ChannelTypeMPIM || s.Config.GroupDM != groupAll)
}

// speaker is a person, or a bot, as the model is told of them.
func (s *Slack) speaker(ctx context.Context, who core.Actor) core.Speaker {
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	return core.Speaker{Name: cmp.Or(who.Name, s.userName(ctx, strings.TrimPrefix(who.ID, Name+":"))), ID: who.ID}
}
