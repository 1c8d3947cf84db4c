package heard

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
)

// Limits of what is read of a message, above those of Discord for messages that people write.
const (
	maxEmbeds = 10     // and messages that are forwarded together
	maxItems  = 25     // fields of an embed, answers of a poll, stickers, files
	maxTexts  = 100    // of components
	maxNested = 8      // components inside of each other
	maxQuoted = 20_000 // characters of a quoted message
)

// Lenient is a part of a message that nothing is decided by: whatever form it has, the message is read.
type Lenient[T any] struct {
	It   T
	null bool
}

// UnmarshalJSON reads what has the expected form, and nothing of a part that has a key twice.
func (l *Lenient[T]) UnmarshalJSON(data []byte) error {
	l.null = string(data) == "null"
	_ = inbound.Decode(data, &l.It)
	return nil
}

// parts is what can be read of a message, whether it came, is forwarded or is replied to.
type parts struct {
	Content     string                `json:"content"`
	Mentions    []User                `json:"mentions"`
	At          Lenient[string]       `json:"timestamp"`
	Flags       Lenient[int]          `json:"flags"`
	Attachments Lenient[[]Attachment] `json:"attachments"`
	Embeds      Lenient[[]embed]      `json:"embeds"`
	Components  Lenient[[]component]  `json:"components"`
	Stickers    Lenient[[]named]      `json:"sticker_items"`
	Poll        Lenient[*poll]        `json:"poll"`
}

// embed is a preview of a link, or what a bot shows beside its text.
type embed struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	URL         string `json:"url"`
	Author      named  `json:"author"`
	Provider    named  `json:"provider"`
	Footer      struct {
		Text string `json:"text"`
	} `json:"footer"`
	Fields []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"fields"`
	Image struct {
		URL string `json:"url"`
	} `json:"image"`
	Components []component `json:"components"`
}

// named is what is read of an author, a provider, an emoji or a sticker.
type named struct {
	Name string `json:"name"`
}

// component is any component, known or not: its texts, and what may hold others.
type component struct {
	Title       string      `json:"title"`
	Label       string      `json:"label"`
	Content     string      `json:"content"`
	Text        string      `json:"text"`
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Placeholder string      `json:"placeholder"`
	URL         string      `json:"url"`
	Inner       []component `json:"components"`
	One         *component  `json:"component"`
	Items       []component `json:"items"`
	Options     []component `json:"options"`
	Accessory   *component  `json:"accessory"`
}

// poll is a question that people vote on.
type poll struct {
	Question pollText `json:"question"`
	Answers  []struct {
		Media pollText `json:"poll_media"`
	} `json:"answers"`
}

type pollText struct {
	Text  string `json:"text"`
	Emoji named  `json:"emoji"`
}

// linkPreview is the kind of an extra that Discord made from the page of a link in the message.
const linkPreview = "link preview"

// extra is a part of a message beside its text: its kind, its text and, of a preview, the name of its page's owner.
type extra struct{ what, text, page string }

// extras returns what a message carries beside its text and its files. Where a bot did not write it, its embeds are
// previews of links, which Discord made.
func (c parts) extras(byBot bool) (all []extra) {
	add := func(what string, lines ...string) {
		if text := safetext.Joined("\n", lines...); text != "" {
			all = append(all, extra{what: what, text: text})
		}
	}
	for _, e := range first(c.Embeds.It, maxEmbeds) {
		if byBot && (e.Type == "" || e.Type == "rich") {
			add("embed", e.words(), e.picture())
		} else if text := e.words(); text != strings.TrimSpace(e.URL) { // which is in the message
			all = append(all, extra{linkPreview, text, e.page()})
		}
	}
	add("components", words(c.Components.It)...)
	for _, s := range first(c.Stickers.It, maxItems) {
		add("sticker", s.Name)
	}
	if p := c.Poll.It; p != nil {
		lines := []string{p.Question.Text}
		for i, a := range first(p.Answers, maxItems) {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, cmp.Or(a.Media.Text, a.Media.Emoji.Name)))
		}
		add("poll", lines...)
	}
	for _, a := range first(c.Attachments.It, maxItems) {
		if a.Description != "" {
			add("description of the file "+a.named(), a.Description)
		}
	}
	return all
}

// words are an embed's texts.
func (e embed) words() string {
	title := e.Title
	if title != e.URL {
		title = safetext.Joined(" ", e.Title, e.URL)
	}
	lines := []string{e.Author.Name, title, e.Description}
	for _, f := range first(e.Fields, maxItems) {
		lines = append(lines, safetext.Joined(": ", f.Name, f.Value))
	}
	return safetext.Joined("\n", append(append(lines, words(e.Components)...), e.Footer.Text)...)
}

// picture says that an embed has a picture; "": it has none.
func (e embed) picture() string {
	if e.Image.URL == "" {
		return ""
	}
	return "[an image that can't be read here: " + e.Image.URL + "]"
}

// page is what is known of whose page a preview shows.
func (e embed) page() string {
	host := ""
	if u, err := url.Parse(e.URL); err == nil {
		host = u.Hostname()
	}
	return safetext.Name(cmp.Or(e.Provider.Name, host))
}

// words returns the texts of components, from the top.
func words(all []component) (texts []string) {
	var walk func(all []component, depth int)
	walk = func(all []component, depth int) {
		for _, c := range all {
			if depth == maxNested || len(texts) >= maxTexts {
				return
			}
			title := safetext.Joined(" ", c.Title, c.Label, c.Name, c.URL)
			own := safetext.Joined("\n", title, c.Content, c.Text, c.Description, c.Placeholder)
			if own != "" {
				texts = append(texts, own)
			}
			for _, one := range []*component{c.One, c.Accessory} {
				if one != nil {
					c.Items = append(slices.Clip(c.Items), *one)
				}
			}
			for _, inner := range [][]component{c.Inner, c.Options, c.Items} {
				walk(inner, depth+1)
			}
		}
	}
	walk(all, 0)
	return texts
}

// first returns the beginning of a list.
func first[T any](all []T, most int) []T { return all[:min(len(all), most)] }
