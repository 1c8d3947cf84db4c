package doc

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// How many people are named in a sentence, and on a button.
const (
	maxNamed  = 5
	maxNext   = 3
	maxButton = 60 // UTF-16 units of a label with names
)

// Refusal is the sentence that says why the reader may not decide, "" if they may: who decides instead, or, where
// nobody else can, why the reader can't.
func (d Document) Refusal() string {
	err := d.refusal()
	if err == nil {
		return ""
	}
	others := d.eligible()
	if d.card.Question != nil || len(others) == 0 {
		return core.MessageOf(err)
	}
	if who := d.deciders(others); who != "" {
		return who
	}
	if d.card.AskedBy(d.reader.Who) {
		return d.OthersDecide
	}
	return core.MessageOf(err)
}

// Beside says who else may decide, for a reader who may; "" if nobody else is known.
func (d Document) Beside() string {
	person := core.Rule{People: d.card.People}.Person
	others := slices.DeleteFunc(d.eligible(), func(id string) bool {
		return person(id) == person(d.reader.Who.ID) || id == core.LocalPerson && d.reader.Who.Local
	})
	names, more, _ := d.named(others)
	if len(names) == 0 {
		return ""
	}
	people := d.row(names, d.PeopleOr)
	if more > 0 {
		people = strings.Join(names, ", ") + " " + wording.Fill(d.MorePeople, "{count}", strconv.Itoa(more))
	}
	return wording.Fill(d.WhoDecidesToo, "{people}", people)
}

// deciders says who decides: "bob or eve decides." It is "" where nobody's name is known.
func (d Document) deciders(ids []string) string {
	names, more, all := d.named(ids)
	if len(names) == 0 {
		return ""
	}
	quorum := max(1, d.card.Quorum)
	text, people := d.WhoDecidesSome, d.row(names, d.PeopleAnd)
	switch {
	case more > 0:
		people = strings.Join(names, ", ") + " " + wording.Fill(d.MorePeople, "{count}", strconv.Itoa(more))
	case quorum == 1:
		text, people = d.WhoDecides, d.row(names, d.PeopleOr)
	case all && quorum == len(ids) && quorum == 2:
		text = d.WhoDecidesBoth
	case all && quorum == len(ids):
		text = d.WhoDecidesAll
	}
	return wording.Fill(text, "{people}", people, "{count}", d.number(quorum))
}

// eligible are the ids of those who may decide, but for the person who asked, if they may not.
func (d Document) eligible() []string {
	return slices.DeleteFunc(Approvers(d.card, d.reader.Platform), func(id string) bool {
		return !d.card.Self && d.card.AskedBy(core.Actor{ID: id})
	})
}

// named are the names of people, as many as a sentence has, and how many more there are; none where no name is known.
// Those whose names are not known here are one name together, and all is false if there are any, or if a name may be
// that of a group.
func (d Document) named(ids []string) (names []string, more int, all bool) {
	all = true
	unknown := ""
	for _, id := range ids {
		name := d.shortName(id)
		switch {
		case name != "":
			names = append(names, name)
		case d.here(id):
			unknown = d.AnApprover
		default:
			unknown = cmp.Or(unknown, d.SomebodyElsewhere)
		}
		_, person := d.card.People[id]
		all = all && name != "" && (person || tokenName(d.Texts, id) != "" && id != core.LocalPerson)
	}
	if unknown != "" && names != nil {
		names = append(names, unknown)
	}
	if more = len(names) - maxNamed; more > 0 {
		return names[:maxNamed], more, all
	}
	return names, 0, all
}

// shortName is the name of somebody in a sentence of names: of a person of the pages, on these, without saying where
// they are. It is "" if nobody knows it here.
func (d Document) shortName(id string) string {
	name := d.called(id)
	_, token, web := strings.Cut(id, ":")
	switch {
	case web && d.here(id) && name == wording.Fill(d.SomebodyOnWeb, "{name}", token):
		name = token
	case name == "" && d.reader.IDs:
		name = id
	}
	return safetext.Name(name)
}

// row is names in a row, of which the text joins the last two.
func (d Document) row(names []string, last string) string {
	n := len(names) - 1
	if n < 1 {
		return strings.Join(names, "")
	}
	return wording.Fill(last, "{people}", strings.Join(names[:n], ", "), "{last}", names[n])
}

// number is a small number in words.
func (d Document) number(n int) string {
	words := []string{d.NumberOne, d.NumberTwo, d.NumberThree, d.NumberFour, d.NumberFive}
	if n > len(words) {
		return strconv.Itoa(n)
	}
	return words[n-1]
}

// approves is the label of a choice that approves. Where it takes several people, it says which of how many approvals
// it is, and who comes then: nobody who presses it must think that the call runs at once.
func (d Document) approves(label string) string {
	c := d.card
	count, of := len(c.Voters)+1, c.Quorum
	if of <= 1 {
		return label
	}
	fill := func(text, people string) string {
		return wording.Fill(text, "{approve}", label, "{count}", strconv.Itoa(count), "{of}", strconv.Itoa(of),
			"{people}", people)
	}
	plain := fill(d.ButtonApproveOf, "")
	who := d.only()
	if who.ID == "" || count >= of {
		return plain
	}
	next := slices.DeleteFunc(d.eligible(), func(id string) bool {
		one := core.Actor{ID: id}
		return c.HasVoted(one, core.Approve) || core.Rule{People: c.People}.Person(id) ==
			core.Rule{People: c.People}.Person(who.ID)
	})
	names, more, all := d.named(next)
	if more > 0 || len(names) != len(next) || len(names) > maxNext {
		return plain
	}
	join := d.PeopleOr
	if all && len(next) == of-count {
		join = d.PeopleAnd
	}
	if then := fill(d.ButtonApproveThen, d.row(names, join)); safetext.Units(then) <= maxButton {
		return then
	}
	return plain
}

// only is the one person who reads the card; the zero Actor if others may, too.
func (d Document) only() core.Actor {
	if d.reader.Who.ID == "" {
		return core.Actor{ID: d.to}
	}
	return d.reader.Who
}
