package doc

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// said is what is said of an approval in its state or, if it differs, of a question.
func (v *Document) said(key string) string {
	text, state := "", string(v.card.State)
	if v.card.Question != nil {
		text = v.Of(key + "question_" + state)
	}
	return cmp.Or(text, v.Of(key+state))
}

// headline is the state of an approval in a few words, and why its card is posted.
func (v *Document) headline(o core.Occasion) string {
	c, text := v.card, v.HeadlineApproval
	switch {
	case c.Use != nil:
		return v.HeadlineUsed
	case c.State != core.Open:
		return v.said("headline_")
	case c.Question == nil && (v.voted(core.Approve) || v.voted(core.Deny)):
		return v.HeadlineWaiting
	case c.Question != nil && o != "":
		text = v.HeadlineQuestionReminder
	case c.Question != nil:
		text = v.HeadlineQuestion
	case o != "":
		text = v.Of("headline_" + string(o))
	case c.Risk == core.Dangerous:
		text = v.HeadlineDangerous
	}
	if c.Asked.Of <= 1 {
		return text
	}
	place, of := strconv.Itoa(c.Asked.Place), strconv.Itoa(c.Asked.Of)
	return wording.Fill(v.HeadlineOfSeveral, "{headline}", text, "{place}", place, "{of}", of)
}

// Unsigned is a text of gatehouse without the picture in front of it, for a surface that draws its own.
func Unsigned(text string) string {
	sign, rest, ok := strings.Cut(text, " ")
	if ok && !strings.ContainsFunc(sign, ofWords) {
		return rest
	}
	return text
}

func ofWords(r rune) bool { return r < unicode.MaxASCII || unicode.IsLetter(r) || unicode.IsDigit(r) }

// Phase is where an approval is, in a word for which a surface may have a colour and a picture: open, dangerous,
// question, voted (by the reader, who waits for others), approved, running, failed, unknown, answered, denied, expired
// or cancelled.
func (d Document) Phase() string {
	c := d.card
	switch {
	case c.State == core.Approved &&
		(c.Run == core.CallRunning || c.Run == core.CallFailed || c.Run == core.CallUnknown):
		return string(c.Run)
	case c.Run == core.CallNotRun:
		return string(core.Cancelled)
	case c.State != core.Open:
		return string(c.State)
	case c.Question != nil:
		return "question"
	case d.voted(core.Approve) || d.voted(core.Deny):
		return "voted"
	case c.Risk == core.Dangerous:
		return string(c.Risk)
	}
	return string(core.Open)
}

// Standing is a sentence with the state of a decided approval, for a person who pressed a button too late.
func (d Document) Standing() string {
	who := d.person(d.card.Decided, d.card.DecidedBy)
	return wording.Fill(d.said("standing_"), "{who}", safetext.Name(who.Text),
		"{time}", d.card.DecidedAt.UTC().Format("2006-01-02 15:04 MST"))
}

// counted is a text with a number, of which there is another one for 1.
func counted(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return safetext.Counted(several, n)
}

func (v *Document) hidden() string {
	return counted(v.card.Hidden, v.HiddenCharacter, v.HiddenCharacters)
}

// OnPage says, after another sentence, who can see what a card does not show. It is "" if no approver is known to
// gatehouse's page, and for those who need not be told: an approver on the page, and whoever runs gatehouse.
func OnPage(c core.Card, r Reader) string {
	if r.IDs || r.Apart && c.Refusal(r.Who) == nil {
		return ""
	}
	t := r.Texts.Or()
	for _, id := range slices.AppendSeq(slices.Clone(c.Approvers), maps.Keys(c.People)) {
		if tokenName(t, id) != "" && c.Refusal(core.Actor{ID: id}) == nil {
			return " " + t.ReadOnPage
		}
	}
	return ""
}

// ShortID is the beginning of an approval's id, which the commands accept too.
func ShortID(id core.ApprovalID) string {
	short, _ := safetext.Head(safetext.Name(string(id)), shortID)
	return strings.TrimRight(short, "-")
}

const shortID = 13 // of a UUID v7: all of its time

// Reminder is what a reminder says where a link leads to the card that it reminds of: the card's headline, what it is
// about, and who may decide.
func Reminder(d core.Delivery, r Reader, link string) []Span {
	v := View(d, r)
	line := append([]Span{{Text: v.Headline, Style: Bold}}, v.For...)
	line = append(line, own(": "), foreign(Subject, safetext.OneLine(v.Lead[0].Text), LimitSubject),
		own(" ("), Span{Kind: Words, Text: link, To: link}, own(")"))
	for _, f := range v.Fields {
		if f.Part == MayDecide && !d.Quiet { // else it calls nobody
			line = append(append(line, own(". "+f.Label+": ")), f.Value...)
		}
	}
	return line
}
