package draw

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core/mask"
)

// Slack's limits that no text can reach, in characters unless the comment says otherwise.
const (
	maxBlocks        = 50  // blocks of a message (docs.slack.dev/reference/block-kit/blocks)
	maxModalBlocks   = 100 // blocks of a modal (the same)
	maxButtonText    = 75  // block-elements/button-element
	maxConfirmTitle  = 100 // composition-objects/confirmation-dialog-object
	maxConfirmText   = 300 // the same
	maxConfirmButton = 30  // the same
	maxModalTitle    = 24  // surfaces/modals
	maxModalButton   = 24  // the same
	maxModalBytes    = 250_000
	maxModalMetadata = 3_000
)

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// tokens matches the beginnings of Slack's tokens.
var tokens = regexp.MustCompile(`(?i)<[!@#]|<[a-z]+:`)

// cardTokens matches the tokens that a card's fields have: people and groups by their ids, and times.
var cardTokens = regexp.MustCompile(
	`<@[UW][A-Z0-9]+>|<!subteam\^S[A-Z0-9]+>|<!date\^\d+\^\{date_short_pretty\} at \{time\}\|[-0-9: ]+ UTC>`)

var everybody = regexp.MustCompile(`(?i)@(here|channel|everyone)`)

// inspect fails if a message breaks one of Slack's limits or could mention or notify anyone.
func inspect(t fataler, text string, blocks []api.Block, most int) int {
	t.Helper()
	return inspectWith(t, text, blocks, most, false)
}

// inspectWith is inspect. Of a reply, the texts in which Slack parses nothing may hold anything: those of rich text and
// of a table's cells, and the addresses of links.
func inspectWith(t fataler, text string, blocks []api.Block, most int, reply bool) int {
	t.Helper()
	if len(blocks) == 0 || len(blocks) > most {
		t.Fatalf("%d blocks", len(blocks))
	}
	if text == "" || safetext.Units(text) > 4_000 {
		t.Fatalf("the notification's text has %d characters: %q", safetext.Units(text), text)
	}
	raw, err := json.Marshal(blocks)
	if err != nil {
		t.Fatalf("%v", err)
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v", err)
	}
	i := &inspector{t: t, total: safetext.Units(text), reply: reply}
	i.harmless("text", text)
	i.look("blocks", v)
	if most == maxBlocks && i.total > maxMessageText {
		t.Fatalf("the message has %d characters", i.total)
	}
	return len(raw)
}

type inspector struct {
	t     fataler
	total int
	reply bool
}

func (i *inspector) harmless(at, s string) {
	i.t.Helper()
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || safetext.Clean(string(r)) != string(r) {
			i.t.Fatalf("%s holds %U", at, r)
		}
	}
	if i.reply && strings.HasSuffix(at, "/literal") {
		return
	}
	if found := tokens.FindString(s) + everybody.FindString(s); found != "" {
		i.t.Fatalf("%s holds %q: %q", at, found, s)
	}
}

func (i *inspector) look(at string, v any) {
	i.t.Helper()
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			i.t.Fatalf("%s is empty", at)
		}
		for n, x := range v {
			i.look(fmt.Sprintf("%s/%d", at, n), x)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		limits := map[string]map[string]int{
			"button": {"value": maxValue}, "link": {"url": maxURL}, "text": {"text": maxPlain},
			"plain_text": {"text": 2000},
		}[kind]
		if i.reply && kind == "text" {
			limits = map[string]int{"text": maxReply}
		}
		for key, x := range v {
			if s, ok := x.(string); ok {
				where := at + "/" + key
				if key == "initial_value" { // Slack parses nothing in it, and sends it to nobody
					if safetext.Units(s) > MaxInput || mask.Escape(s) != s {
						i.t.Fatalf("%s has %d characters: %q", where, safetext.Units(s), s)
					}
					continue
				}
				if kind == "mrkdwn" {
					s = cardTokens.ReplaceAllString(s, "")
				}
				if key == "text" && (kind == "text" || kind == "raw_text") || key == "url" && kind == "link" {
					where += "/literal"
				}
				i.harmless(where, s)
				if key == "text" {
					i.total += safetext.Units(s)
					if s == "" && kind != "link" {
						i.t.Fatalf("%s is empty", where)
					}
				}
				if most, ok := limits[key]; ok && safetext.Units(s) > most {
					i.t.Fatalf("%s has %d characters, more than %d", where, safetext.Units(s), most)
				}
				continue
			}
			i.look(at+"/"+key, x)
		}
		if kind == "button" {
			i.most(at, v["text"], maxButtonText)
		}
		if confirm, ok := v["confirm"].(map[string]any); ok && confirm["title"] != nil {
			i.most(at, confirm["title"], maxConfirmTitle)
			i.most(at, confirm["text"], maxConfirmText)
			i.most(at, confirm["confirm"], maxConfirmButton)
			i.most(at, confirm["deny"], maxConfirmButton)
		}
	}
}

func (i *inspector) most(at string, object any, most int) {
	i.t.Helper()
	text, _ := object.(map[string]any)["text"].(string)
	if safetext.Units(text) > most {
		i.t.Fatalf("a text at %s has %d characters, more than %d: %q", at, safetext.Units(text), most, text)
	}
}
