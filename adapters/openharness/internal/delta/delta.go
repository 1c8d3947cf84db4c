// Package delta draws what a turn shows while it runs as the data of the event delta, for one client:
//
//	{"turn":"12","html":"<p>The refund is</p>","running":{"tool":"shop.refund","since":"2026-11-25T07:55:00Z"}}
//	{"turn":"12","ended":true}
//
// Each has the whole text so far, so that one that was left out or came twice does no harm. The text is made safe as a
// reply is, by the same tree. Since it is not stored and no reply, what would be hidden in a log is hidden in it, too
// (unfinished.Text).
package delta

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/internal/unfinished"
	"gatehouse/core/live"
)

// Drawing is what one client was shown of a conversation's turns. The zero Drawing is that of a client that has seen
// nothing.
type Drawing struct {
	HTML bool // texts as HTML, else as they are

	turn  int64
	parts []part // the answers of the turn
	told  []byte
}

// event is the data of an event.
type event struct {
	Turn    string    `json:"turn"`
	Text    string    `json:"text,omitempty"`
	HTML    string    `json:"html,omitempty"`
	Running *running  `json:"running,omitempty"`
	RetryAt time.Time `json:"retry_at,omitzero"`
	Ended   bool      `json:"ended,omitempty"`
}

type running struct {
	Tool  string    `json:"tool"`
	Since time.Time `json:"since"`
}

// Draw returns the data of the event that shows a state; nil: the client has it. runs is false if no turn runs.
func (d *Drawing) Draw(s live.State, runs bool) []byte {
	if !runs && d.told == nil {
		return nil
	}
	e := event{Turn: strconv.FormatInt(d.turn, 10), Ended: !runs}
	if runs {
		if s.Turn != d.turn {
			*d = Drawing{HTML: d.HTML, turn: s.Turn}
		}
		e = d.event(s)
	}
	data, _ := json.Marshal(e) // of texts and times: can't fail
	if bytes.Equal(data, d.told) {
		return nil
	}
	if d.told = data; !runs {
		*d = Drawing{HTML: d.HTML}
	}
	return data
}

func (d *Drawing) event(s live.State) event {
	e := event{Turn: strconv.FormatInt(s.Turn, 10), RetryAt: s.RetryAt.UTC()}
	if s.Tool != "" {
		e.Running = &running{s.Tool, s.Since.UTC()}
	}
	d.parts = append(d.parts, make([]part, max(0, len(s.Said)+1-len(d.parts)))...)
	var all []string
	for i := range s.Said {
		all = append(all, d.parts[i].draw(s.Said[i], true, d.HTML))
	}
	all = append(all, d.parts[len(s.Said)].draw(s.Writing, false, d.HTML))
	if d.HTML {
		e.HTML = strings.Join(all, "")
	} else {
		e.Text = safetext.Joined("\n\n", all...)
	}
	return e
}

// part is an answer of a turn, as far as it was drawn.
type part struct {
	raw   string
	whole bool
	text  unfinished.Text
	drawn string
}

// draw draws the answer, of which the text is whole or may go on.
func (p *part) draw(raw string, whole, html bool) string {
	if p.raw == raw && p.whole == whole {
		return p.drawn
	}
	p.raw, p.whole = raw, whole
	if whole {
		p.drawn = unfinished.Whole(raw)
	} else {
		p.drawn = p.text.Shown(raw)
	}
	if html {
		p.drawn = string(markup.HTML(doc.Parse(p.drawn)))
	}
	return p.drawn
}
