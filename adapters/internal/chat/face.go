package chat

import (
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/question"
)

// CardLimits limit how much of each field a card shows.
type CardLimits struct {
	Summary   int
	Approvers int // how many people are named: those who may decide, and those who have approved so far
	Message   int // the beginning of the message that the call is for
	Changed   int
	Reason    int
}

// CardText draws the text of an approval's card as pieces of a platform's text, such as Slack's rich text elements or Discord's Markdown.
type CardText[P any] struct {
	Platform string
	Limits   CardLimits
	Inline   func(text string, limit int) string // what is decided about, on one line, harmless on this platform, with nothing invisible
	Said     func(text string, limit int) string // a person's own words, likewise; what joins emojis stays
	Text     func(string) P                      // gatehouse's own text, and what Inline returns
	Bold     func(string) P                      // the same in bold
	Tool     func(name string) P
	Person   func(who core.Actor, name string) P
	Approver func(id string) P // who may decide: mentioned, so that they are told
	Time     func(time.Time) P
	Deadline func(time.Time) []P // nil: as Time
}

// Face is what a card says, from the top. Arguments and buttons follow it.
type Face[P any] struct {
	Title  string // the state
	Color  Color
	Lead   P          // what it is about
	Fields []Field[P] // in two columns where the platform has them
	Notes  [][]P      // sentences; each is a line of its own
	Warns  int        // how many of the notes, from the first, are what an approver must know before a decision
}

// Fact is a thing that a card says, besides its title and its lead.
type Fact struct {
	Label string `json:"label,omitempty"` // "" for a sentence
	Text  string `json:"text"`
	Warns bool   `json:"warns,omitempty"` // an approver must know it before a decision
}

// Facts are all that a face says below its lead, in its order, and the same as lines of text.
func Facts(f Face[string]) (facts []Fact, lines []string) {
	for _, field := range f.Fields {
		text := strings.Join(field.Value, "")
		facts = append(facts, Fact{Label: field.Label, Text: text})
		lines = append(lines, field.Label+": "+text)
	}
	for i, note := range f.Notes {
		text := strings.Join(note, "")
		facts = append(facts, Fact{Text: text, Warns: i < f.Warns})
		lines = append(lines, text)
	}
	return facts, lines
}

// Field is a labelled value of a card.
type Field[P any] struct {
	Label string
	Value []P
	Wide  bool // it has a line of its own
}

// Color is the colour of a card's edge, as 0xRRGGBB. No reply of a model has one.
type Color int

// The colours.
const (
	Amber Color = 0xE8A33D // it waits for somebody
	Green Color = 0x2E9E5B // approved
	Red   Color = 0xD64545 // dangerous; denied; or approved and failed
	Grey  Color = 0x8A8F98 // it ended without a decision, or without being run
)

// Face draws a card in its current state.
func (t CardText[P]) Face(d core.Delivery) Face[P] {
	c := *d.Card
	f := Face[P]{Title: Headline(c, d.Occasion), Color: colorOf(c), Lead: t.Bold(OrNone(t.lead(c)))}
	add := func(label string, value ...P) {
		if len(value) > 0 {
			f.Fields = append(f.Fields, Field[P]{Label: label, Value: value, Wide: wide[label]})
		}
	}
	if c.Question == nil {
		add("Tool", t.Tool(c.Tool))
	}
	add("Asked by", t.Person(c.Requested, c.Requester))
	if c.Asked.Message != "" {
		add("Message", t.Text("“"+t.Said(c.Asked.Message, t.Limits.Message)+"”"))
	}
	if c.State == core.Open {
		switch {
		case c.Deadline.IsZero():
		case t.Deadline == nil:
			add("Expires", t.Time(c.Deadline))
		default:
			add("Expires", t.Deadline(c.Deadline)...)
		}
		if d.Quiet {
			add("May decide", t.Text("people who are notified elsewhere"))
		} else {
			who, label := t.Approvers(c), "May decide"
			if c.Question != nil {
				label = "May answer"
			}
			add(label, t.people(len(who), func(i int) P { return t.Approver(who[i]) })...)
		}
		if c.Question != nil {
			return f
		}
		if c.Quorum > 1 {
			add("Approved so far", t.votes(c.Voters, c.Quorum)...)
		}
		if c.Vetoes > 1 {
			add("Denied so far", t.votes(c.Against, c.Vetoes)...)
		}
		f.Notes = t.warnings(c)
		f.Warns = len(f.Notes)
		if d.LeftOut > 0 {
			f.Notes = append(f.Notes, []P{t.Text(leftOut(d.LeftOut))})
		}
	} else {
		t.decision(c, add)
	}
	if c.Edits > 0 {
		f.Notes = append(f.Notes, []P{t.Person(c.Editor, c.Editor.Name), t.Text(" changed the arguments.")})
	}
	if c.Asked.Dropped != "" {
		f.Notes = append(f.Notes, []P{t.Text(t.Inline(c.Asked.Dropped, t.Limits.Summary) + " had changed the arguments of an earlier request. The rules have changed since, and that change is dropped.")})
	}
	if c.Changed != "" {
		f.Notes = append(f.Notes, []P{t.Bold("The request was changed after it was made:"), t.Text(" " + t.Said(c.Changed, t.Limits.Changed))})
	}
	return f
}

// lead is what a card is about.
func (t CardText[P]) lead(c core.Card) string {
	if c.Question != nil {
		return t.Inline(c.Question.Text, question.MaxText)
	}
	return t.Inline(c.Summary, t.Limits.Summary)
}

// wide are the labels of fields that may be long.
var wide = map[string]bool{"Approved so far": true, "Denied so far": true, "Reason": true, "Message": true, "Result": true, "Answer": true}

// Approvers returns those who may decide, each person once: by their account on this platform if they have one here.
func (t CardText[P]) Approvers(c core.Card) (ids []string) {
	person := core.Rule{People: c.People}.Person
	here := func(id string) bool { return strings.HasPrefix(id, t.Platform+":") }
	of := map[string]int{} // a person's place among the ids
	for _, id := range c.Approvers {
		at, known := of[person(id)]
		switch {
		case !known:
			of[person(id)] = len(ids)
			ids = append(ids, id)
		case here(id) && !here(ids[at]):
			ids[at] = id
		}
	}
	return ids
}

// votes draws how many votes there are, of how many, and whose.
func (t CardText[P]) votes(voters []core.Actor, of int) []P {
	text := []P{t.Text(fmt.Sprintf("%d of %d", len(voters), of))}
	if len(voters) > 0 {
		text = append(append(text, t.Text(": ")), t.people(len(voters), func(i int) P { return t.Person(voters[i], voters[i].Name) })...)
	}
	return text
}

// people names up to Limits.Approvers of n people.
func (t CardText[P]) people(n int, one func(i int) P) (text []P) {
	for i := range n {
		if i == t.Limits.Approvers {
			return append(text, t.Text(fmt.Sprintf(" and %d more", n-i)))
		}
		if i > 0 {
			text = append(text, t.Text(", "))
		}
		text = append(text, one(i))
	}
	return text
}

// warnings are what an approver must know before a decision.
func (t CardText[P]) warnings(c core.Card) (notes [][]P) {
	switch {
	case c.Altered:
		return append(notes, []P{t.Bold(AlteredNote)})
	case c.Risk == core.Dangerous:
		notes = append(notes, []P{t.Text(irreversible)})
	}
	if c.Hidden > 0 {
		notes = append(notes, []P{t.Text(hiddenNote(c) + " To see them: " + ShowCommand(c.Approval) + " --reveal")})
	}
	return notes
}

// leftOut says that approvers who should know of a card were not told.
func leftOut(n int) string {
	if n == 1 {
		return "1 approver could not be sent a direct message."
	}
	return Thousands(n) + " approvers could not be sent a direct message."
}

// decision draws who decided, when and why, and what became of the call.
func (t CardText[P]) decision(c core.Card, add func(label string, value ...P)) {
	word := map[core.ApprovalState]string{core.Approved: "Approved", core.Denied: "Denied", core.Cancelled: "Cancelled", core.Expired: "Expired", core.Answered: "Answered"}[c.State]
	if c.State != core.Expired && (c.DecidedBy != "" || c.Decided.ID != "") {
		by := []P{t.Person(c.Decided, c.DecidedBy)}
		if c.State == core.Approved && len(c.Voters) > 1 {
			by = t.people(len(c.Voters), func(i int) P { return t.Person(c.Voters[i], c.Voters[i].Name) })
		}
		add(word+" by", by...)
	}
	if !c.DecidedAt.IsZero() {
		add(word+" at", t.Time(c.DecidedAt))
	}
	if c.State == core.Answered {
		add("Answer", t.Text(OrNone(t.Said(c.Answer, t.Limits.Reason))))
	}
	if c.Reason != "" {
		add("Reason", t.Text(OrNone(t.Said(c.Reason, t.Limits.Reason))))
	}
	if c.State != core.Approved || c.Run == core.CallWaits {
		return
	}
	result := []P{t.Text(runSigns[c.Run] + " " + t.Inline(c.RunText(), t.Limits.Reason))}
	if c.Run != core.CallRunning && !c.RunAt.IsZero() {
		result = append(result, t.Text(", "), t.Time(c.RunAt))
	}
	if c.Run == core.CallUnknown {
		result = append(result, t.Text(". It may have been done: check before you ask again."))
	}
	add("Result", result...)
}

var runSigns = map[core.CallState]string{core.CallRunning: "⏳", core.CallDone: "✅", core.CallFailed: "❌", core.CallNotRun: "⏹️", core.CallUnknown: "❓"}

func colorOf(c core.Card) Color {
	switch {
	case c.State == core.Open && c.Risk == core.Dangerous:
		return Red
	case c.State == core.Open, c.State == core.Approved && c.Run == core.CallUnknown:
		return Amber
	case c.State == core.Denied, c.State == core.Approved && c.Run == core.CallFailed:
		return Red
	case c.State == core.Approved && c.Run != core.CallNotRun, c.State == core.Answered:
		return Green
	}
	return Grey
}
