package slack

import (
	"cmp"
	"context"
	"net/http"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// maxAsked is how many files of a message Slack is asked about, each of which it sent without saying what it is.
const maxAsked = 16

// filesOf are the files of a message in a channel, as they are read. Error: Slack has to be asked about one, and can't
// be asked now.
func (s *Slack) filesOf(
	ctx context.Context, channel string, sent []heard.File, n *names,
) (files []inbound.File, err error) {
	asked := 0
	for _, f := range sent {
		why := ""
		if f.Unsaid() && asked < maxAsked {
			asked++
			placed, by := f.Placed, f.By
			if f, why, err = s.fileInfo(ctx, f); err != nil {
				return nil, err
			}
			if f.By = by; placed && !f.IsIn(channel) {
				why = "it is not of this conversation"
			}
		}
		f.By.Name = cmp.Or(f.By.Name, n.known.Of(f.By.ID))
		file := f.Read()
		file.Why = cmp.Or(why, file.Why)
		files = append(files, file)
	}
	return files, nil
}

// fileInfo asks Slack what a file is. why is the reason if it does not say so. Error: it can't be asked now.
func (s *Slack) fileInfo(ctx context.Context, f heard.File) (read heard.File, why string, err error) {
	info, _, _, err := s.api.GetFileInfoContext(ctx, f.ID, 0, 0)
	switch err := s.called(err); {
	case core.RetryAfterOf(err) > threadWait: // the person does not wait for it
		return f, "Slack asks to wait", nil
	case core.IsTemporary(err):
		return f, "", outbound.LookupError(err, "Slack can't be asked for a file now.")
	case core.CategoryOf(err) == core.Unsupported:
		return f, core.MessageOf(errNoScope), nil
	case err != nil:
		return f, "Slack does not show it to the bot: " + webapi.Refusal(err), nil
	}
	return heard.ReadFile([]byte(info.Preview)), "", nil
}

const scopeFiles = "files:read"

var (
	errNoScope     = core.Errorf(core.NotAllowed, "the bot may not read it; it needs the scope "+scopeFiles)
	errFileRefused = core.Errorf(core.NotAllowed, "the bot may not read it")
)

// fetcher returns a function that fetches one file of an event with the bot's token, which is sent to Slack's own
// hosts only.
func (s *Slack) fetcher(e core.Event) func(ctx context.Context, f inbound.File) (inbound.Content, error) {
	files := inbound.Fetcher{
		Blobs: s.Blobs, Event: e, Title: webapi.Title, Client: s.http, APIURL: s.Config.APIURL,
		Header:  http.Header{"Authorization": {"Bearer " + s.Config.BotToken}},
		Hosts:   webapi.OwnHosts,
		Refused: errFileRefused, Redirected: errFileRefused,
	}
	if !s.identity.hasScope(scopeFiles, false) {
		files.Refused, files.Redirected = errNoScope, errNoScope
	}
	return func(ctx context.Context, f inbound.File) (inbound.Content, error) {
		if !s.identity.hasScope(scopeFiles, true) {
			return inbound.Content{}, errNoScope
		}
		return files.Fetch(ctx, f, f.URL)
	}
}
