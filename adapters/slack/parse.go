package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/slack-go/slack/slackevents"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// Parse reads a person's message. In a conversation of several people it begins with the speaker. Attached images become blocks; other files
// are listed by name.
func (s *Slack) Parse(ctx context.Context, e core.Event) (in core.Input, err error) {
	var body envelope
	var m messageEvent
	if chat.Decode(e.Payload, &body) != nil || chat.Decode(body.Event, &m) != nil || m.User == "" && !s.isBot(e.Actor) ||
		!strings.Contains(string(body.Event), `"text"`) {
		return in, core.Errorf(core.ChatMessageShapeInvalid, "The message from Slack could not be read. Please send it again.")
	}
	if only, err := s.onlyBots(ctx, e); only || err != nil {
		return core.Input{Ignored: chat.TooManyBots}, err
	}
	b, _ := s.botOf(body)
	rest, _ := cutMention(m.Text, append(s.Config.mentionGroups(), b.user)...)
	text := strings.TrimSpace(s.withNames(ctx, rest))
	direct := m.ChannelType == slackevents.ChannelTypeIM || m.ChannelType == "" && strings.HasPrefix(m.Channel, "D")
	h := chat.Heard{Speaker: s.speaker(ctx, e.Actor), Alone: direct, Mention: !direct, Text: text}
	if h.Files, err = chat.Files(ctx, filesOf(m.Files, h.Speaker), s.fetcher(e)); err != nil {
		return in, err
	}
	thread, asked, err := s.above(ctx, b, e, m, direct)
	if err != nil {
		return in, err
	}
	h.Points, h.Fetched = append(thread, h.Points...), h.Fetched || asked
	return h.Input()
}

// speaker is a person, or a bot, as the model is told of them.
func (s *Slack) speaker(ctx context.Context, who core.Actor) core.Speaker {
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	return core.Speaker{Name: cmp.Or(who.Name, s.userName(ctx, strings.TrimPrefix(who.ID, Name+":"))), ID: who.ID}
}

// withNames returns a message as plain text, with the names of the first people that it mentions (chat.MaxNames), looked up together. The
// tokens of channels and groups already contain their names.
func (s *Slack) withNames(ctx context.Context, text string) string {
	var people []string
	for _, m := range mention.FindAllStringSubmatch(text, -1) {
		if id := m[1]; len(people) < chat.MaxNames && !slices.Contains(people, id) {
			people = append(people, id)
		}
	}
	if people == nil {
		return fromMrkdwn(text, nil)
	}
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	return fromMrkdwn(text, chat.LookUp(people, func(id string) string { return s.userName(ctx, id) }))
}

// filesOf decodes the files of a message, each by itself. A file that can't be decoded becomes an empty File.
func filesOf(sent json.RawMessage, by core.Speaker) []chat.File {
	var raw []json.RawMessage
	_ = json.Unmarshal(sent, &raw) // most messages have none
	all := make([]chat.File, len(raw))
	for i, r := range raw {
		var f struct {
			ID       string  `json:"id"`
			Name     string  `json:"name"`
			Mimetype string  `json:"mimetype"`
			Size     float64 `json:"size"`
			Download string  `json:"url_private_download"`
			Private  string  `json:"url_private"`
		}
		if json.Unmarshal(r, &f) == nil {
			all[i] = chat.File{ID: f.ID, Name: f.Name, Type: f.Mimetype, Size: f.Size, URL: cmp.Or(f.Download, f.Private), By: by}
		}
	}
	return all
}

var errFileRefused = core.Errorf(core.NotAllowed, "the bot may not read it; it needs the scope files:read")

// fetcher returns a function that fetches one file of an event with the bot's token, which is sent to Slack's own hosts only.
func (s *Slack) fetcher(e core.Event) func(ctx context.Context, f chat.File) (chat.Content, error) {
	files := chat.Fetcher{
		Put: s.PutBlob, Event: e, Title: webapi.Title, Client: s.http, APIURL: s.Config.APIURL, Header: http.Header{"Authorization": {"Bearer " + s.Config.BotToken}},
		OwnHost: webapi.OwnHost,
		Refused: errFileRefused, Redirected: errFileRefused,
	}
	return func(ctx context.Context, f chat.File) (chat.Content, error) { return files.Fetch(ctx, f, f.URL) }
}
