package discord

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// attachment is a file attached to a message.
type attachment struct {
	ID          string  `json:"id"`
	Name        string  `json:"filename"`
	Description string  `json:"description"` // by who sent it
	Type        string  `json:"content_type"`
	Size        float64 `json:"size"`
	URL         string  `json:"url"`
}

// named is the file's name on one line.
func (a attachment) named() string {
	return cmp.Or(chat.Name(storable(a.Name)), chat.Name(a.ID), "a file")
}

// fileHosts are the hosts of Discord's attachments.
var fileHosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// errGone is the error for a file that was deleted, or whose link has expired.
var errGone = core.Errorf(core.NotAllowed, "it is not there any more")

// files are the message's files, those of the messages that it forwards, and of the one that it replies to and of more
// unless they are the bot's own, each with who sent it.
func (m message) files(n *names, me string, more ...quotable) (all []chat.File) {
	add := func(c carried, by core.Speaker) {
		for _, a := range c.Attachments.it {
			f := chat.File{ID: a.ID, Name: a.named(), Type: a.Type, Size: a.Size, URL: a.URL, By: by}
			if c.Flags.it&voiceMessage != 0 {
				f.Why = "a voice message, which can't be heard here"
			}
			all = append(all, f)
		}
	}
	of := m.quotables()
	for _, s := range more {
		if !slices.ContainsFunc(of, func(known quotable) bool { return known.ID == s.ID }) {
			of = append(of, s)
		}
	}
	for _, s := range of {
		if s.isBy(me) {
			continue
		}
		add(s.carried, n.speaker(s.Author))
		for _, f := range s.forwarded() {
			add(f, core.Speaker{})
		}
	}
	return all
}

// voiceMessage is the flag of a message that is nothing but a recording. discordgo does not define it.
const voiceMessage = 1 << 13

// files reads a message's files, and those of more messages, which were just fetched. A link is valid for a day: if one
// has expired, the message is read once more for its files' current links.
func (d *Discord) files(
	ctx context.Context, e core.Event, m message, me string, n *names, more ...quotable,
) (chat.Read, error) {
	// The link suffices: no token is sent.
	fetcher := chat.Fetcher{
		Blobs: d.Blobs, Event: e,
		Title: "Discord", Client: d.rest.HTTP(), APIURL: d.Config.APIURL,
		OwnHost: func(host string) bool { return slices.Contains(fileHosts, host) },
		Refused: errGone, Redirected: core.Errorf(core.NotAllowed, "it is not stored at Discord"),
	}
	files := m.files(n, me, more...)
	links := sync.OnceValues(func() (map[string]string, error) { return d.links(ctx, m.Channel, m.ID) }) // by file
	return chat.Files(ctx, files, func(ctx context.Context, f chat.File) (chat.Content, error) {
		content, err := fetcher.Fetch(ctx, f, f.URL)
		if !errors.Is(err, errGone) {
			return content, err
		}
		current, err := links()
		switch {
		case err != nil:
			return chat.Content{}, err
		case current[f.ID] == "":
			return chat.Content{}, errGone
		}
		return fetcher.Fetch(ctx, f, current[f.ID])
	})
}

// links reads a message and returns its files' current links, none if it can no longer be read. Error:
// provider_unavailable.
func (d *Discord) links(ctx context.Context, channel, id string) (map[string]string, error) {
	links := map[string]string{}
	if !snowflake.Valid(channel, id) {
		return links, nil
	}
	var now message
	err := d.rest.Get(ctx, discordgo.EndpointChannelMessage(channel, id), &now)
	if core.IsTemporary(err) {
		return nil, chat.LookupError(err, "Discord can't be asked for a file now.")
	}
	for _, f := range now.files(&names{of: func(byte, string) string { return "" }}, "") {
		links[f.ID] = f.URL
	}
	return links, nil
}
