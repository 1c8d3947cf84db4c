package doc

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

var runSigns = map[core.CallState]string{
	core.CallRunning: "⏳ ", core.CallDone: "✅ ", core.CallFailed: "❌ ", core.CallNotRun: "⏹️ ", core.CallUnknown: "❓ ",
}

// decided adds who decided, when and why, and what became of the call.
func (v *Document) decided() {
	c, label := v.card, "label_"+string(v.card.State)
	if c.State != core.Expired && (c.DecidedBy != "" || c.Decided.ID != "") {
		all := map[core.ApprovalState][]core.Actor{core.Approved: c.Voters, core.Denied: c.Against}[c.State]
		if len(all) > 1 {
			v.add(DecidedBy, v.Of(label+"_by"), v.people(Person, all)...)
		} else {
			v.addPerson(DecidedBy, v.Of(label+"_by"), c.Decided, c.DecidedBy)
		}
	}
	if !c.DecidedAt.IsZero() {
		v.add(DecidedAt, v.Of(label+"_at"), Span{Kind: Moment, At: c.DecidedAt})
	}
	if c.State == core.Answered {
		before := ""
		if strings.Contains(c.Answer, "\n") {
			before = "\n"
		}
		v.add(Answer, v.LabelAnswer, own(before), foreign(Lines, c.Answer, LimitReason))
	}
	if c.Reason != "" {
		v.add(Reason, v.LabelReason, foreign(Said, c.Reason, LimitReason))
	}
	if c.State != core.Approved || c.Run == core.CallWaits {
		return
	}
	became := v.Of("result_" + string(c.Run))
	if c.RunNote != "" && (c.Run == core.CallFailed || c.Run == core.CallNotRun) {
		became += ": " + c.RunNote
	}
	result := []Span{own(runSigns[c.Run]), foreign(Subject, became, LimitReason)}
	if c.Run != core.CallRunning && !c.RunAt.IsZero() {
		result = append(result, own(", "), Span{Kind: Moment, At: c.RunAt})
	}
	if c.Run == core.CallUnknown {
		result = append(result, own(". "+v.ResultDoubt))
	}
	v.add(Result, v.LabelResult, result...)
}

// Fate is what became of a decided approval in a few words each, for a line behind what it is about: who changed its
// arguments, how it was decided and by whom, and what came of the call; and the parts of the document that it says. A
// reason, an answer or a note that is long, or has several lines, is left to its part.
func (d Document) Fate() (words [][]Span, says []Part) {
	c := d.card
	decided := []Span{own(small(d.Of("terminal_" + string(c.State))))}
	says = []Part{DecidedBy}
	if c.Use != nil {
		decided = []Span{own(small(Unsigned(d.HeadlineUsed)))}
	} else if who := d.deciding(); who != "" && c.State != core.Expired &&
		(c.State != core.Cancelled || !brief(c.Reason)) {
		decided = append(decided, own(" "+wording.Fill(d.TerminalBy, "{who}", who)))
	}
	at := c.DecidedAt
	for _, f := range d.Fields {
		text, kind := c.Reason, Said
		if f.Part == Answer {
			text, kind = c.Answer, Lines
		}
		if (f.Part == Answer || f.Part == Reason) && brief(text) {
			decided, says = append(decided, own(": "), foreign(kind, text, NoLimit)), append(says, f.Part)
		}
	}
	if c.Edits > 0 {
		who := cmp.Or(d.whoDid(c.Editor), d.AnApprover)
		words = append(words, []Span{own(wording.Fill(d.LineChanged, "{who}", who))})
	}
	words = append(words, decided)
	if c.State == core.Approved && c.Run != core.CallWaits {
		became := []Span{own(small(d.Of("result_" + string(c.Run))))}
		note := c.Run == core.CallFailed || c.Run == core.CallNotRun
		if note = note && c.RunNote != ""; note && brief(c.RunNote) {
			became = append(became, own(": "), foreign(Subject, c.RunNote, NoLimit))
		}
		if (!note || brief(c.RunNote)) && c.Run != core.CallUnknown {
			says = append(says, Result)
		}
		words, at = append(words, became), c.RunAt
	}
	if at.Equal(c.DecidedAt) {
		says = append(says, DecidedAt)
	}
	if !at.IsZero() {
		words = append(words, []Span{{Kind: Moment, At: at}})
	}
	return words, says
}

// deciding names those who decided, the reader as "you"; "" if nobody's name is known here.
func (d Document) deciding() string {
	all := map[core.ApprovalState][]core.Actor{core.Approved: d.card.Voters, core.Denied: d.card.Against}[d.card.State]
	if len(all) < 2 {
		all = []core.Actor{d.card.Decided}
	}
	var names []string
	for _, one := range all {
		names = append(names, d.whoDid(one))
	}
	return d.row(names, d.PeopleAnd)
}

// whoDid is a person's short name, the reader as "you".
func (d Document) whoDid(one core.Actor) string {
	if one.ID != "" && one.ID == d.reader.Who.ID {
		return d.You
	}
	return cmp.Or(d.shortName(one.ID), safetext.Name(d.person(one, one.Name).Text))
}

// Decider names who decided a closed approval, the reader as "you"; "somebody" if nobody's name is known here.
func (d Document) Decider() string { return cmp.Or(d.deciding(), small(d.Somebody)) }

// maxBrief is how long a text may be, in UTF-16 units, to follow others on their line.
const maxBrief = 80

func brief(text string) bool {
	return text != "" && safetext.Units(text) <= maxBrief && !strings.Contains(strings.TrimSpace(text), "\n")
}

// small is a text that goes on a sentence.
func small(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToLower(first)) + text[size:]
}
