package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Limits of what is attached to a message.
const (
	maxAttachments = 20
	maxForwards    = 4 // of a forward that holds a forward, and so on
	maxFiles       = 50
)

// heard is a message as Slack sent it, without a look-up: its texts are mrkdwn.
type heard struct {
	text   string // what its author wrote
	quoted []core.Quotation
	files  []sentFile

	bot  bool // its author is one: what it attaches is what it wrote
	left int  // how many attachments may follow
	cut  int  // how many attachments and files are left out
}

// attachment is the part of an attachment that is read: a forwarded message, the preview of a link, what an app
// attached, or a table that a person pasted.
type attachment struct {
	IsShare     bool `json:"is_share"`
	IsMessage   bool `json:"is_msg_unfurl"`
	IsReply     bool `json:"is_reply_unfurl"`
	IsAppUnfurl bool `json:"is_app_unfurl"`

	AuthorID   string          `json:"author_id"`
	AuthorName string          `json:"author_name"`
	BotID      string          `json:"bot_id"`
	AppID      string          `json:"app_id"`
	Service    string          `json:"service_name"`
	TS         json.RawMessage `json:"ts"`
	From       string          `json:"from_url"`
	Original   string          `json:"original_url"`

	Pretext   string          `json:"pretext"`
	Title     string          `json:"title"`
	TitleLink string          `json:"title_link"`
	Text      string          `json:"text"`
	Fields    json.RawMessage `json:"fields"`
	Footer    string          `json:"footer"`
	Fallback  string          `json:"fallback"`
	Blocks    json.RawMessage `json:"blocks"`

	MessageBlocks json.RawMessage `json:"message_blocks"`
	Attachments   json.RawMessage `json:"attachments"`
	Files         json.RawMessage `json:"files"`
}

// isForward reports whether it is another message: one that was forwarded, or to which a link leads.
func (a attachment) isForward() bool { return a.IsShare || a.IsMessage || a.IsReply }

// isOwn reports whether it is a part of what the author of the message wrote: of a bot's words, or a pasted table.
func (a attachment) isOwn(byBot bool) bool {
	if a.isForward() || a.IsAppUnfurl || a.AuthorName+a.Service+a.From+a.Original != "" {
		return false
	}
	return byBot || a.BotID+a.AppID+a.Pretext+a.Title+a.Text == "" && len(items(a.Blocks)) > 0
}

// heardIn reads all of a message that carries words.
func heardIn(m slackMessage) heard {
	h := heard{text: withBlocks(m.Text, m.Blocks), bot: m.BotID != "", left: maxAttachments}
	by := speaker("", cmp.Or(m.User, m.BotID))
	h.addFiles(by, m.Files)
	for _, f := range placed.FindAllSubmatch(m.Blocks, maxFiles) { // the event of a mention may have them there alone
		h.addFile(sentFile{slackFile{ID: string(f[1]), Mode: modeStub, placed: true}, by})
	}
	h.attach(&h.text, by, m.Attachments, maxForwards)
	return h
}

// placed matches where a file stands in blocks. In a text, quotes are escaped.
var placed = regexp.MustCompile(`"file_id":\s*"(F[A-Z0-9]+)"`)

// speaker is who wrote something. A name that Slack does not send with it is looked up later.
func speaker(name, id string) core.Speaker {
	by := core.Speaker{Name: chat.Name(unescape.Replace(name))}
	if id != "" {
		by.ID = Name + ":" + id
	}
	return by
}

// attach reads the attachments of a message by somebody. Their own parts, such as pasted tables, are added to text.
func (h *heard) attach(text *string, by core.Speaker, attachments json.RawMessage, depth int) {
	for _, raw := range items(attachments) {
		if h.left == 0 || depth == 0 {
			h.cut++
			continue
		}
		h.left--
		var a attachment
		_ = chat.Decode(raw, &a) // what can be read of it
		if a.isOwn(h.bot) {
			*text = strings.TrimSpace(*text + "\n" + a.said())
			h.addFiles(by, a.Files)
			continue
		}
		if a.isForward() {
			h.forward(a, depth)
			continue
		}
		what, from := "attachment", by // an app may give any name as its author's, but no id
		switch {
		case a.From != "" || a.Original != "" || a.IsAppUnfurl:
			what, from = "link preview",
				speaker(cmp.Or(a.Service, a.AuthorName, hostOf(cmp.Or(a.From, a.Original))), "")
		case a.AuthorName+a.Service != "":
			from = speaker(cmp.Or(a.AuthorName, a.Service), "")
		}
		if text := a.said(); text != "" {
			h.quoted = append(h.quoted, a.quotation(what, from, text))
		}
		h.addFiles(from, a.Files)
	}
}

// forward reads a forwarded message, its files, and what it forwards itself.
func (h *heard) forward(a attachment, depth int) {
	by := speaker(a.AuthorName, cmp.Or(a.AuthorID, a.BotID))
	q := a.quotation("linked message", by, a.said())
	if a.IsShare {
		q.What = "forwarded message"
	}
	if depth < maxForwards {
		q.What += " in the one before"
	}
	inner := heard{bot: a.BotID != "", left: h.left}
	inner.addFiles(by, a.Files)
	originals := items(a.MessageBlocks)
	known := min(len(originals), maxForwards) // Slack sends one
	inner.cut = len(originals) - known
	for _, raw := range originals[:known] {
		var original struct {
			Message slackMessage `json:"message"`
		}
		_ = chat.Decode(raw, &original)
		q.Text = withBlocks(q.Text, original.Message.Blocks)
		if !holds(q.Text, original.Message.Text) {
			q.Text = original.Message.Text + "\n" + q.Text
		}
		inner.addFiles(by, original.Message.Files)
		inner.attach(&q.Text, by, original.Message.Attachments, depth-1)
	}
	inner.attach(&q.Text, by, a.Attachments, depth-1)
	if q.Text == "" && !slices.Contains(noPreview, a.Fallback) {
		q.Text = a.Fallback
	}
	if q.Text = chat.Joined("\n", q.Text, namesOf(inner.files)); q.Text == "" && len(inner.quoted) == 0 {
		q.Text = "[Slack sent no text of it]"
	}
	h.quoted = append(append(h.quoted, q), inner.quoted...)
	h.left, h.cut = inner.left, h.cut+inner.cut
	for _, f := range inner.files {
		h.addFile(f)
	}
}

func (a attachment) quotation(what string, by core.Speaker, text string) core.Quotation {
	return core.Quotation{What: what, Name: by.Name, ID: by.ID, At: core.QuotedAt(timeOf(a.TS)), Text: text}
}

// said is the text of an attachment. Its fallback stands for one that has none.
func (a attachment) said() string {
	title := a.Title
	if title != "" && a.TitleLink != "" {
		title = "<" + a.TitleLink + "|" + title + ">"
	}
	parts := []string{a.Pretext, title, a.Text}
	for _, raw := range items(a.Fields) {
		var field struct {
			Title string `json:"title"`
			Value string `json:"value"`
		}
		_ = chat.Decode(raw, &field)
		if field.Title != "" {
			field.Title += ": "
		}
		parts = append(parts, field.Title+field.Value)
	}
	text := withBlocks(chat.Joined("\n", parts...), a.Blocks)
	switch {
	case a.isForward():
		return text
	case text == "" && !slices.Contains(noPreview, a.Fallback):
		return a.Fallback
	case text == "":
		return ""
	}
	return chat.Joined("\n", text, a.Footer)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// timeOf is the time of a timestamp, which Slack writes as a string or as a number.
func timeOf(ts json.RawMessage) time.Time {
	seconds, _, _ := strings.Cut(strings.Trim(string(ts), `"`), ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n <= 0 || n > maxSeconds {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// maxSeconds is the last second of the year 9999.
const maxSeconds = 253402300799

// addFiles adds files, each once: Slack lists those of a forwarded message in several places.
func (h *heard) addFiles(by core.Speaker, files json.RawMessage) {
	for _, raw := range items(files) {
		h.addFile(sentFile{slackFileOf(raw), by})
	}
}

func (h *heard) addFile(f sentFile) {
	switch {
	case f.Mode == "email" && f.Email != "": // that was sent to a channel; its file is a web page
		if q := f.email(); !slices.Contains(h.quoted, q) {
			h.quoted = append(h.quoted, q)
		}
	case f.ID != "" && slices.ContainsFunc(h.files, func(known sentFile) bool { return known.ID == f.ID }):
	case len(h.files) == maxFiles:
		h.cut++
	default:
		h.files = append(h.files, f)
	}
}

// namesOf says which files a message has, as mrkdwn.
func namesOf(files []sentFile) string {
	if len(files) == 0 {
		return ""
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.file().Called()
	}
	return "[attached files: " + escape.Replace(strings.Join(names, ", ")) + "]"
}

// texts are the texts of which names are looked up.
func (h heard) texts() []string {
	all := []string{h.text}
	for _, q := range h.quoted {
		if q.Name == "" {
			all = append(all, mentioning(q.ID))
		}
		all = append(all, q.Text)
	}
	return all
}

// mentioning is a text that mentions an author, so that their name is looked up.
func mentioning(id string) string { return "<@" + strings.TrimPrefix(id, Name+":") + ">" }

// points are the quotations as the model is shown them.
func (h heard) points(n *names) []core.Block {
	all := slices.Clone(h.quoted)
	for i, q := range all {
		all[i].Name = cmp.Or(q.Name, n.of(q.ID))
		all[i].Text = strings.TrimSpace(fromMrkdwn(q.Text, n.known))
	}
	if h.cut > 0 {
		all = append(all, chat.Note(chat.Thousands(h.cut)+" more attachments and files of this message are left out."))
	}
	if len(all) == 0 {
		return nil
	}
	return []core.Block{core.Quote(all...)}
}

// readable are messages of a thread as quotations: each with its author, its time and, as its text, everything in it
// that carries words, what it points at quoted, and its files by name.
func (n *names) readable(ctx context.Context, b bot, what string, messages ...slackMessage) []core.Quotation {
	said, texts := make([]heard, len(messages)), []string{}
	for i, m := range slices.Backward(messages) { // the newest names first
		said[i] = heardIn(m)
		n.hint(m)
		texts = append(append(texts, mentioning(cmp.Or(m.User, m.BotID))), said[i].texts()...)
	}
	n.learn(ctx, texts...)
	all := make([]core.Quotation, len(messages))
	for i, m := range messages {
		by := speaker("", cmp.Or(m.User, m.BotID))
		text := []string{notLabel.Replace(fromMrkdwn(said[i].text, n.known))}
		for _, q := range said[i].points(n) {
			text = append(text, q.Text)
		}
		own := slices.DeleteFunc(said[i].files, func(f sentFile) bool { return f.by != by })
		text = append(text, unescape.Replace(namesOf(own)))
		at := core.QuotedAt(timeOf(json.RawMessage(m.TS)))
		all[i] = core.Quotation{What: what, Name: n.of(by.ID), ID: by.ID, At: at, Text: chat.Joined("\n", text...)}
		b.attribute(&all[i], m)
	}
	return all
}

// notLabel keeps what somebody wrote in a thread from passing for the label of something that they forwarded there.
var notLabel = strings.NewReplacer(`{"quoted":`, `{ "quoted":`)
