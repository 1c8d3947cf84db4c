package doc

import (
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// before notes what was asked before: the same call by the same person, which is open, too, and its last denial; and
// what is not what it seems.
func (v *Document) before() {
	t := v.Texts
	if s := v.card.Same; s != nil && s.N > 1 {
		text, link := t.SameAs, v.reader.First
		if link == "" && v.reader.Who.ID != "" && !v.reader.IDs { // who reads a page of gatehouse's
			link = v.reader.Pages + "/approvals/" + safetext.Name(string(s.First))
		}
		if link != "" {
			text = t.SameAsLinked
		}
		v.note(false, placed(text, 0, map[string][]Span{
			"{time}": {{Kind: Moment, At: s.At}}, "{link}": {{Kind: Words, Text: link, To: link}},
			"{place}": {own(strconv.Itoa(s.N))}, "{of}": {own(strconv.Itoa(s.Of))},
		})...)
	}
	if r := v.card.Refused; r != nil {
		text := t.DeniedBefore
		if r.Reason != "" {
			text = t.DeniedBeforeWhy
		}
		v.note(false, placed(text, 0, map[string][]Span{
			"{person}": {v.person(r.By, r.By.Called())}, "{time}": {{Kind: Moment, At: r.At}},
			"{reason}": {foreign(Said, r.Reason, LimitReason)},
		})...)
	}
	if words := v.card.LookAlikes; words != nil {
		v.note(true, filled(t.LookAlikes, 0, foreign(Subject, strings.Join(words, "; "), LimitSubject))...)
	}
}

// memory notes what an approval allows besides its own call, or that an earlier one allows this call.
func (v *Document) memory() {
	c, t := v.card, v.Texts
	text := t.MemoryKept
	places := map[string][]Span{
		"{time}": {{Kind: Moment, At: c.Until}}, "{times}": {own(counted(c.Memory.Uses, t.Once, t.Times))},
	}
	switch {
	case c.Use != nil:
		text, places["{time}"] = t.MemoryUsed, []Span{{Kind: Moment, At: c.Use.Until}}
		places["{place}"], places["{of}"] = []Span{own(strconv.Itoa(c.Use.N))}, []Span{own(strconv.Itoa(c.Use.Uses))}
	case c.Memory == core.Memory{} || c.State == core.Open && c.Altered:
		return
	case c.State == core.Open:
		text, places["{time}"] = t.MemoryOffered, []Span{own(v.lasting(c.Memory.For))}
		places["{once}"], places["{remember}"] = []Span{own(t.ButtonApprove)}, []Span{own(t.ButtonRemember)}
	}
	v.note(false, placed(text, 0, places)...)
}

// lasting is a duration in its largest unit that it is a multiple of.
func (v *Document) lasting(d time.Duration) string {
	for _, unit := range []struct {
		length    time.Duration
		one, many string
	}{{24 * time.Hour, v.OneDay, v.Days}, {time.Hour, v.OneHour, v.Hours}, {time.Minute, v.OneMinute, v.Minutes}} {
		if n := d / unit.length; n > 0 && d%unit.length == 0 {
			return counted(int(n), unit.one, unit.many)
		}
	}
	return d.String()
}
