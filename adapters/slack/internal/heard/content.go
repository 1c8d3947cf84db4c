package heard

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// Limits of what is attached to a message.
const (
	maxAttachments = 20
	maxForwards    = 4 // of a forward that holds a forward, and so on
)

// Content is a message as Slack sent it, without a look-up: its texts are mrkdwn.
type Content struct {
	Text   string // what its author wrote
	Quoted []core.Quotation
	Files  []File

	bot  bool // its author is one: what it attaches is what it wrote
	left int  // how many attachments may follow
	cut  int  // how many attachments and files are left out
}

// Read reads all of a message that carries words.
func Read(m Message) Content {
	c := Content{Text: withBlocks(m.Text, m.Blocks), bot: m.BotID != "", left: maxAttachments}
	by := m.Author()
	c.addFiles(by, m.Files)
	for _, f := range placed.FindAllSubmatch(m.Blocks, maxFiles) { // the event of a mention may have them there alone
		c.addFile(File{ID: string(f[1]), Mode: modeStub, Placed: true, By: by})
	}
	c.attach(&c.Text, by, m.Attachments, maxForwards)
	return c
}

// placed matches where a file stands in blocks. In a text, quotes are escaped.
var placed = regexp.MustCompile(`"file_id":\s*"(F[A-Z0-9]+)"`)

// speaker is who wrote something. A name that Slack does not send with it is looked up later.
func speaker(name, id string) core.Speaker {
	by := core.Speaker{Name: safetext.Name(mrkdwn.Unescape(name))}
	if id != "" {
		by.ID = webapi.Platform + ":" + id
	}
	return by
}

// Texts are the texts of which names are looked up.
func (c Content) Texts() []string {
	all := []string{c.Text}
	for _, q := range c.Quoted {
		if q.Name == "" {
			all = append(all, Mentioning(q.ID))
		}
		all = append(all, q.Text)
	}
	return all
}

// Mentioning is a text that mentions an author, so that their name is looked up.
func Mentioning(id string) string { return "<@" + strings.TrimPrefix(id, webapi.Platform+":") + ">" }

// Points are the quotations as the model is shown them.
func (c Content) Points(names Names) []core.Block {
	all := slices.Clone(c.Quoted)
	for i, q := range all {
		all[i].Name = cmp.Or(q.Name, names.Of(q.ID))
		all[i].Text = strings.TrimSpace(mrkdwn.Plain(q.Text, names))
	}
	if c.cut > 0 {
		all = append(all, inbound.Note(
			safetext.Thousands(c.cut)+" more attachments and files of this message are left out."))
	}
	if len(all) == 0 {
		return nil
	}
	return []core.Block{core.Quote(all...)}
}

// Names are those of people, bots, channels and user groups, by their ids in Slack.
type Names map[string]string

// Of returns the name of a person or a bot, by their id in core; "" if it is not known.
func (n Names) Of(id string) string {
	user := strings.TrimPrefix(id, webapi.Platform+":")
	if name := n[user]; name != user {
		return name
	}
	return ""
}

// Quote quotes a message with its author, its time and, as its text, everything in it that carries words: c, what it
// points at quoted, and its own files by name. what says which message it is.
func (m Message) Quote(what string, c Content, names Names) core.Quotation {
	by := m.Author()
	text := []string{notLabel.Replace(mrkdwn.Plain(c.Text, names))}
	for _, q := range c.Points(names) {
		text = append(text, q.Text)
	}
	own := slices.DeleteFunc(c.Files, func(f File) bool { return f.By != by })
	return core.Quotation{
		What: what, Name: names.Of(by.ID), ID: by.ID, At: core.QuotedAt(mrkdwn.Time(json.RawMessage(m.TS))),
		Text: safetext.Joined("\n", append(text, mrkdwn.Unescape(namesOf(own)))...),
	}
}

// notLabel keeps what somebody wrote in a thread from passing for the label of something that they forwarded there.
var notLabel = strings.NewReplacer(`{"quoted":`, `{ "quoted":`)
