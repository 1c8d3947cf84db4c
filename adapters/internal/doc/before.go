package doc

import (
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
)

// before notes what was asked before: the same call by the same person, which is open, too, and its last denial.
func (v *Document) before() {
	if s := v.card.Same; s != nil && s.N > 1 {
		note := []Span{own("The same as the request of "), {Kind: Moment, At: s.At}, own(fmt.Sprintf(", %d of %d", s.N, s.Of))}
		if link := v.reader.First; link != "" {
			note = append(note, own(" ("), Span{Kind: Words, Text: link, To: link}, own(")"))
		}
		v.note(append(note, own(". Each is decided by itself."))...)
	}
	if r := v.card.Refused; r != nil {
		note := []Span{own("The same was denied by "), person(r.By, r.By.Name), own(" at "), {Kind: Moment, At: r.At}}
		if r.Reason != "" {
			note = append(note, own(": "), Span{Kind: Said, Text: r.Reason, Limit: LimitReason})
		}
		v.note(append(note, own("."))...)
	}
	if words := v.card.LookAlikes; words != nil {
		v.Notes = append(v.Notes, Note{Warns: true, Spans: []Span{
			own("Letters of another alphabet look like others here: "), {Kind: Subject, Text: strings.Join(words, "; "), Limit: LimitSubject},
			own(". Check what it really says."),
		}})
	}
}

// memory notes what an approval allows besides its own call, or that an earlier one allows this call.
func (v *Document) memory() {
	c := v.card
	switch {
	case c.Use != nil:
		v.note(own("Nobody was asked: an approval of the same call is remembered until "), Span{Kind: Moment, At: c.Use.Until},
			own(fmt.Sprintf(", and this is use %d of %d.", c.Use.N, c.Use.Uses)))
	case c.Memory == core.Memory{} || c.State == core.Open && c.Altered:
	case c.State == core.Open:
		v.note(own(fmt.Sprintf("“Approve” is for this one time. “Approve and remember” also allows the same call in this conversation for %s, %s.",
			lasting(c.Memory.For), times(c.Memory.Uses))))
	default:
		v.note(own("It is remembered: the same call is allowed in this conversation until "), Span{Kind: Moment, At: c.Until}, own(", "+times(c.Memory.Uses)+"."))
	}
}

// lasting is a duration in its largest unit that it is a multiple of.
func lasting(d time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := d / unit.length; {
		case d%unit.length != 0 || n == 0:
		case n == 1:
			return "1 " + unit.name
		default:
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return d.String()
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
