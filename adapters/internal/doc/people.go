package doc

import (
	"cmp"
	"fmt"
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

func (v *Document) approvers() []Span {
	ids := Approvers(v.card, v.reader.Platform)
	return v.people(len(ids), func(i int) Span {
		name := cmp.Or(Elsewhere(ids[i]), ids[i])
		if ids[i] == core.LocalPerson {
			name = LocalApprover
		}
		return Span{Kind: Approver, Text: name, Who: core.Actor{ID: ids[i]}}
	})
}

// votes are how many votes there are, of how many, and whose.
func (v *Document) votes(voters []core.Actor, of int) []Span {
	spans := []Span{own(fmt.Sprintf("%d of %d", len(voters), of))}
	if len(voters) == 0 {
		return spans
	}
	return append(append(spans, own(": ")), v.people(len(voters), func(i int) Span { return person(voters[i], voters[i].Name) })...)
}

// people names n people, as many as the reader's surface shows.
func (v *Document) people(n int, one func(i int) Span) (spans []Span) {
	for i := range n {
		if v.reader.Approvers > 0 && i == v.reader.Approvers {
			return append(spans, own(fmt.Sprintf(" and %d more", n-i)))
		}
		if i > 0 {
			spans = append(spans, own(", "))
		}
		spans = append(spans, one(i))
	}
	return spans
}

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
	return cmp.Or(inline(name), inline(who.Name), Elsewhere(who.ID), "somebody")
}
