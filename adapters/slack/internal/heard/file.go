package heard

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
)

// maxEmail is how much of an email is read.
const maxEmail = 128 << 10

// maxFiles is how many files of a message are read.
const maxFiles = 50

// File is the part of a file that is read.
type File struct {
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

	By     core.Speaker `json:"-"` // who sent it, in this message or one that it forwards
	Placed bool         `json:"-"` // it was only named in blocks, where somebody may name any
}

// modeStub is the mode of a file of which an event has nothing but the id.
const modeStub = "file_access"

// ReadFile is what can be read of a file: of one that can't be decoded nothing.
func ReadFile(raw json.RawMessage) (f File) {
	_ = inbound.Decode(raw, &f)
	return f
}

func fileBy(by core.Speaker, raw json.RawMessage) File {
	f := ReadFile(raw)
	f.By = by
	return f
}

// Unsaid reports whether Slack says what the file is, or what is said in it, only if it is asked.
func (f File) Unsaid() bool {
	isStub := f.Access == "check_file_info" || f.Mode == modeStub
	isNew := f.Download+f.Private+f.Transcription.Status == "" && f.unreadable() == "" // it has just been uploaded
	return f.ID != "" && (isStub || isNew || f.Transcription.Status == "processing")
}

// Read is the file as it is read.
func (f File) Read() inbound.File {
	file := inbound.File{
		ID: f.ID, Name: cmp.Or(f.Name, f.Title), Type: f.Type, Size: f.Size, URL: cmp.Or(f.Download, f.Private),
		By: f.By, Why: f.unreadable(), Seen: f.Preview,
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
func (f File) unreadable() string {
	switch {
	case f.Mode == "tombstone":
		return "it was deleted"
	case f.Mode == "hidden_by_limit":
		return "Slack hides it, since the workspace has reached its limit"
	case f.Mode == "external" || f.IsExternal:
		return "it is not stored at Slack, but at " + cmp.Or(safetext.Name(f.ExternalType), "another service")
	case f.Download+f.Private == "" && (f.Access == "check_file_info" || f.Mode == modeStub):
		return "Slack does not say what it is"
	case f.Access != "" && f.Access != "visible" && f.Access != "check_file_info":
		return "Slack gives no access to it: " + safetext.Name(f.Access)
	case f.Transcription.Status == "processing":
		return "Slack has not yet written down what is said in it"
	}
	return ""
}

// email is an email as it is quoted. Anybody may have sent it, by any name.
func (f File) email() core.Quotation {
	name := inbound.File{ID: f.ID, Name: cmp.Or(f.Name, f.Title)}.Called()
	q := core.Quotation{What: "email", File: name, Text: mrkdwn.Escape(mrkdwn.Shorten(f.Email, maxEmail))}
	if len(f.From) > 0 {
		q.Name = safetext.Name(f.From[0].Original)
	}
	return q
}

// IsIn reports whether a file was sent to a channel, or Slack does not say to which it was.
func (f File) IsIn(channel string) bool {
	public, private := f.Shares.Public, f.Shares.Private
	return public[channel] != nil || private[channel] != nil || len(public)+len(private) == 0
}

// addFiles adds files, each once: Slack lists those of a forwarded message in several places.
func (c *Content) addFiles(by core.Speaker, files json.RawMessage) {
	for _, raw := range items(files) {
		c.addFile(fileBy(by, raw))
	}
}

func (c *Content) addFile(f File) {
	switch {
	case f.Mode == "email" && f.Email != "": // that was sent to a channel; its file is a web page
		if q := f.email(); !slices.Contains(c.Quoted, q) {
			c.Quoted = append(c.Quoted, q)
		}
	case f.ID != "" && slices.ContainsFunc(c.Files, func(known File) bool { return known.ID == f.ID }):
	case len(c.Files) == maxFiles:
		c.cut++
	default:
		c.Files = append(c.Files, f)
	}
}

// namesOf says which files a message has, as mrkdwn.
func namesOf(files []File) string {
	if len(files) == 0 {
		return ""
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.Read().Called()
	}
	return "[attached files: " + mrkdwn.Escape(strings.Join(names, ", ")) + "]"
}
