package doc

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/mask"
)

// Approvers returns those who may decide, each person once: by their account on this platform if they have one here.
func Approvers(c core.Card, platform string) (ids []string) {
	person := core.Rule{People: c.People}.Person
	here := func(id string) bool { return strings.HasPrefix(id, platform+":") }
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

// approvers names those who may decide, but nobody of another platform whose name is not known here.
func (v *Document) approvers() []Span {
	var who []Span
	for _, id := range Approvers(v.card, v.reader.Platform) {
		name := v.called(id)
		if name == "" && (v.here(id) || !strings.Contains(id, ":")) {
			name = id // the surface knows more of its own people and groups
		}
		if name != "" {
			who = append(who, Span{Kind: Approver, Text: name, Who: core.Actor{ID: id}})
		}
	}
	if who == nil && len(v.card.Approvers) > 0 {
		return []Span{own(Elsewhere)}
	}
	return v.people(who)
}

// here reports whether the reader's surface can name somebody by their id.
func (v *Document) here(id string) bool {
	return v.reader.IDs || strings.HasPrefix(id, v.reader.Platform+":")
}

// called is the name of somebody as the card knows it, "" if it does not.
func (v *Document) called(id string) string {
	if name := TokenName(id); name != "" {
		return name
	}
	c := v.card
	for _, known := range slices.Concat([]core.Actor{c.Requested, c.Editor, c.Decided}, c.Voters, c.Against) {
		if known.ID == id && known.Name != "" && known.Name != id {
			return known.Name
		}
	}
	return ""
}

// addPerson adds who did something, unless nobody knows here who that is.
func (v *Document) addPerson(label string, who core.Actor, name string) {
	if name != "" && name != who.ID || v.called(who.ID) != "" || who.Name != "" || v.here(who.ID) {
		v.add(label, person(who, name))
	}
}

// votes are how many votes there are, of how many, and whose.
func (v *Document) votes(voters []core.Actor, of int) []Span {
	spans := []Span{own(fmt.Sprintf("%d of %d", len(voters), of))}
	if len(voters) > 0 {
		spans = append(spans, own(": "))
	}
	return append(spans, v.people(persons(voters))...)
}

func persons(voters []core.Actor) (all []Span) {
	for _, who := range voters {
		all = append(all, person(who, who.Name))
	}
	return all
}

// people are people in a row, as many as the reader's surface shows.
func (v *Document) people(who []Span) (spans []Span) {
	for i, one := range who {
		if v.reader.Approvers > 0 && i == v.reader.Approvers {
			return append(spans, own(fmt.Sprintf(" and %d more", len(who)-i)))
		}
		if i > 0 {
			spans = append(spans, own(", "))
		}
		spans = append(spans, one)
	}
	return spans
}

// TokenName names a person of the web pages by their token, and the person at gatehouse's own machine; "" for anybody else.
func TokenName(id string) string {
	name, web := strings.CutPrefix(id, "openharness:")
	switch {
	case id == core.LocalPerson:
		return LocalApprover
	case web && name == core.LocalPerson:
		return "somebody at gatehouse's own machine"
	case web && tokenName.MatchString(name):
		return name + " on the web"
	}
	return ""
}

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// maxNameID is the longest id that a name with misleading letters is shown with.
const maxNameID = 80

// NameOf returns a person's name as inline draws it, and their id only if the name has letters that look like others.
func NameOf(who core.Actor, name string, inline func(string) string) string {
	if name == who.ID {
		name = ""
	}
	if mask.LookAlike(who.Name) && len(who.ID) <= maxNameID {
		name = who.Called()
	}
	return cmp.Or(inline(name), inline(who.Name), TokenName(who.ID), somebody)
}

const somebody = "somebody" // whose name is not known
