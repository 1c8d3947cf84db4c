package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// maxAsked is how many files of a message Slack is asked about, each of which it sent without saying what it is.
const maxAsked = 16

// maxEmail is how much of an email is read.
const maxEmail = 128 << 10

// slackFile is the part of a file that is read.
type slackFile struct {
	ID           string  `json:"id"`
	Name         string  `json:"name"`
	Title        string  `json:"title"`
	Type         string  `json:"mimetype"`
	Size         float64 `json:"size"`
	Mode         string  `json:"mode"`
	Access       string  `json:"file_access"`
	IsExternal   bool    `json:"is_external"`
	ExternalType string  `json:"external_type"`
	Download     string  `json:"url_private_download"`
	Private      string  `json:"url_private"`
	Preview      string  `json:"preview"`
	Email        string  `json:"plain_text"` // of an email
	From         []struct {
		Original string `json:"original"`
	} `json:"from"`
	Shares struct {
		Public  map[string][]struct{} `json:"public"`
		Private map[string][]struct{} `json:"private"`
	} `json:"shares"`
	Transcription struct {
		Status  string `json:"status"`
		Preview struct {
			Content string `json:"content"`
			More    bool   `json:"has_more"`
		} `json:"preview"`
	} `json:"transcription"`

	placed bool // it was only named in blocks, where somebody may name any
}

// modeStub is the mode of a file of which an event has nothing but the id.
const modeStub = "file_access"

// sentFile is a file of a message, or of one that it forwards, and who sent it there.
type sentFile struct {
	slackFile
	by core.Speaker
}

// slackFileOf is what can be read of a file: of one that can't be decoded nothing.
func slackFileOf(raw json.RawMessage) (f slackFile) {
	_ = chat.Decode(raw, &f)
	return f
}

// unsaid reports whether Slack says what the file is, or what is said in it, only if it is asked.
func (f slackFile) unsaid() bool {
	isStub := f.Access == "check_file_info" || f.Mode == modeStub
	isNew := f.Download+f.Private+f.Transcription.Status == "" && f.unreadable() == "" // it has just been uploaded
	return f.ID != "" && (isStub || isNew || f.Transcription.Status == "processing")
}

// file is a file as it is read.
func (f sentFile) file() chat.File {
	file := chat.File{
		ID: f.ID, Name: cmp.Or(f.Name, f.Title), Type: f.Type, Size: f.Size, URL: cmp.Or(f.Download, f.Private),
		By: f.by, Why: f.unreadable(), Seen: f.Preview,
	}
	if f.Mode == "snippet" { // whatever language it is in
		file.Type = "text/plain"
	}
	if t := f.Transcription; t.Status == "complete" {
		if file.Said = t.Preview.Content; file.Said != "" && t.Preview.More {
			file.Said += "\n[this is only its beginning: Slack sends no more of it]"
		}
	}
	return file
}

// unreadable is why a file can't be read, as far as Slack says so with it.
func (f slackFile) unreadable() string {
	switch {
	case f.Mode == "tombstone":
		return "it was deleted"
	case f.Mode == "hidden_by_limit":
		return "Slack hides it, since the workspace has reached its limit"
	case f.Mode == "external" || f.IsExternal:
		return "it is not stored at Slack, but at " + cmp.Or(chat.Name(f.ExternalType), "another service")
	case f.Download+f.Private == "" && (f.Access == "check_file_info" || f.Mode == modeStub):
		return "Slack does not say what it is"
	case f.Access != "" && f.Access != "visible" && f.Access != "check_file_info":
		return "Slack gives no access to it: " + chat.Name(f.Access)
	case f.Transcription.Status == "processing":
		return "Slack has not yet written down what is said in it"
	}
	return ""
}

// email is an email as it is quoted. Anybody may have sent it, by any name.
func (f slackFile) email() core.Quotation {
	name := chat.File{ID: f.ID, Name: cmp.Or(f.Name, f.Title)}.Called()
	q := core.Quotation{What: "email", File: name, Text: escape.Replace(shorten(f.Email, maxEmail))}
	if len(f.From) > 0 {
		q.Name = chat.Name(f.From[0].Original)
	}
	return q
}

// isIn reports whether a file was sent to a channel, or Slack does not say to which it was.
func (f slackFile) isIn(channel string) bool {
	public, private := f.Shares.Public, f.Shares.Private
	return public[channel] != nil || private[channel] != nil || len(public)+len(private) == 0
}

// filesOf are the files of a message in a channel, as they are read. Error: Slack has to be asked about one, and can't
// be asked now.
func (s *Slack) filesOf(ctx context.Context, channel string, sent []sentFile, n *names) (files []chat.File, err error) {
	asked := 0
	for _, f := range sent {
		why := ""
		if f.unsaid() && asked < maxAsked {
			asked++
			known := f.slackFile
			if f.slackFile, why, err = s.fileInfo(ctx, known); err != nil {
				return nil, err
			}
			if known.placed && !f.isIn(channel) {
				why = "it is not of this conversation"
			}
		}
		f.by.Name = cmp.Or(f.by.Name, n.of(f.by.ID))
		file := f.file()
		file.Why = cmp.Or(why, file.Why)
		files = append(files, file)
	}
	return files, nil
}

// fileInfo asks Slack what a file is. why is the reason if it does not say so. Error: it can't be asked now.
func (s *Slack) fileInfo(ctx context.Context, f slackFile) (read slackFile, why string, err error) {
	info, _, _, err := s.api.GetFileInfoContext(ctx, f.ID, 0, 0)
	switch err := s.called(err); {
	case core.RetryAfterOf(err) > threadWait: // the person does not wait for it
		return f, "Slack asks to wait", nil
	case core.IsTemporary(err):
		return f, "", chat.LookupError(err, "Slack can't be asked for a file now.")
	case core.CategoryOf(err) == core.Unsupported:
		return f, core.MessageOf(errNoScope), nil
	case err != nil:
		return f, "Slack does not show it to the bot: " + webapi.Refusal(err), nil
	}
	return slackFileOf([]byte(info.Preview)), "", nil
}

const scopeFiles = "files:read"

var (
	errNoScope     = core.Errorf(core.NotAllowed, "the bot may not read it; it needs the scope "+scopeFiles)
	errFileRefused = core.Errorf(core.NotAllowed, "the bot may not read it")
)

// fetcher returns a function that fetches one file of an event with the bot's token, which is sent to Slack's own
// hosts only.
func (s *Slack) fetcher(e core.Event) func(ctx context.Context, f chat.File) (chat.Content, error) {
	files := chat.Fetcher{
		Put: s.PutBlob, Event: e, Title: webapi.Title, Client: s.http, APIURL: s.Config.APIURL,
		Header:  http.Header{"Authorization": {"Bearer " + s.Config.BotToken}},
		OwnHost: webapi.OwnHost,
		Refused: errFileRefused, Redirected: errFileRefused,
	}
	if !s.identity.hasScope(scopeFiles, false) {
		files.Refused, files.Redirected = errNoScope, errNoScope
	}
	return func(ctx context.Context, f chat.File) (chat.Content, error) {
		if !s.identity.hasScope(scopeFiles, true) {
			return chat.Content{}, errNoScope
		}
		return files.Fetch(ctx, f, f.URL)
	}
}
