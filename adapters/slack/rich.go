package slack

import (
	"regexp"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// piece is a piece of rich text. Slack reads no tokens in it.
type piece = api.RichTextSectionElement

func rich(pieces ...piece) api.Block {
	return api.NewRichTextBlock("", api.NewRichTextSection(pieces...))
}

func literal(s string) piece { return api.NewRichTextSectionTextElement(s, nil) }

func bold(s string) piece {
	return api.NewRichTextSectionTextElement(s, &api.RichTextSectionTextStyle{Bold: true})
}

func codeWord(s string) piece {
	return api.NewRichTextSectionTextElement(s, &api.RichTextSectionTextStyle{Code: true})
}

// preformatted is text in a box, as it is.
func preformatted(s string) *api.RichTextPreformatted {
	return &api.RichTextPreformatted{Type: api.RTEPreformatted, Elements: []piece{literal(s)}}
}

// moment is a time in the reader's own zone.
func moment(t time.Time) piece {
	fallback := t.UTC().Format("2006-01-02 15:04 UTC")
	return api.NewRichTextSectionDateElement(t.Unix(), "{date_short_pretty} at {time}", nil, &fallback)
}

var slackPerson = regexp.MustCompile(`^` + Name + `:([UW][A-Z0-9]{1,20})$`)

// person names somebody: by a mention where Slack knows them, else by the name.
func person(a core.Actor, name string) piece {
	if id := slackPerson.FindStringSubmatch(a.ID); id != nil {
		return api.NewRichTextSectionUserElement(id[1], nil)
	}
	for _, n := range []string{name, a.Name, a.ID} {
		if n = inline(n, maxPerson); n != "" {
			return literal(n)
		}
	}
	return literal("somebody")
}

// approver names one of those who may decide. A group is not mentioned: that would call all of it.
func approver(id string) piece {
	switch group, isGroup := strings.CutPrefix(id, Name+":S"); {
	case slackPerson.MatchString(id):
		return person(core.Actor{ID: id}, "")
	case id == core.LocalPerson:
		return literal("whoever is at gatehouse's own machine")
	case isGroup:
		return literal("group " + inline("S"+group, maxPerson))
	}
	return literal(orNone(inline(id, maxPerson)))
}
