package discord

import (
	"context"
	"errors"
	"sync"

	"gatehouse/adapters/discord/internal/heard"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// fileHosts are the hosts of Discord's attachments.
var fileHosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// errGone is the error for a file that was deleted, or whose link has expired.
var errGone = core.Errorf(core.NotAllowed, "it is not there any more")

// files reads a message's files, and those of more messages, which were just fetched. A link is valid for a day: if one
// has expired, the message is read once more for its files' current links.
func (d *Discord) files(
	ctx context.Context, e core.Event, m heard.Message, me string, n *heard.Names, more ...heard.Quotable,
) (inbound.Read, error) {
	// The link suffices: no token is sent.
	fetcher := inbound.Fetcher{
		Blobs: d.Blobs, Event: e,
		Title: "Discord", Client: d.rest.HTTP(), APIURL: d.Config.APIURL,
		Hosts:   fileHosts,
		Refused: errGone, Redirected: core.Errorf(core.NotAllowed, "it is not stored at Discord"),
	}
	files := m.Files(n, me, more...)
	links := sync.OnceValues(func() (map[string]string, error) { return d.links(ctx, m.Channel, m.ID) }) // by file
	return inbound.Files(ctx, files, func(ctx context.Context, f inbound.File) (inbound.Content, error) {
		content, err := fetcher.Fetch(ctx, f, f.URL)
		if !errors.Is(err, errGone) {
			return content, err
		}
		current, err := links()
		switch {
		case err != nil:
			return inbound.Content{}, err
		case current[f.ID] == "":
			return inbound.Content{}, errGone
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
	var now heard.Message
	err := d.rest.Get(ctx, discordgo.EndpointChannelMessage(channel, id), &now)
	if core.IsTemporary(err) {
		return nil, outbound.LookupError(err, "Discord can't be asked for a file now.")
	}
	for _, f := range now.Files(&heard.Names{}, "") {
		links[f.ID] = f.URL
	}
	return links, nil
}
