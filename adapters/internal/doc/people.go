package doc

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
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
		if !known {
			at, ids = len(ids), append(ids, id)
			of[person(id)] = at
		}
		if here(id) && !here(ids[at]) {
			ids[at] = id
		}
	}
	return ids
}

// approvers names those who may decide, but nobody of another platform whose name is not known here.
func (v *Document) approvers() []Span {
	var who []core.Actor
	for _, id := range Approvers(v.card, v.reader.Platform) {
		name := v.called(id)
		if name == "" && (v.here(id) || !strings.Contains(id, ":")) || v.reader.IDs && id != core.LocalPerson {
			name = id // the surface knows more of its own people and groups
		}
		if name != "" {
			who = append(who, core.Actor{ID: id, Name: name})
		}
	}
	if who == nil && len(v.card.Approvers) > 0 {
		return []Span{own(v.NotifiedElsewhere)}
	}
	return v.people(Approver, who)
}

// here reports whether the reader's surface can name somebody by their id.
func (v *Document) here(id string) bool {
	return v.reader.IDs || strings.HasPrefix(id, v.reader.Platform+":")
}

// called is the name of somebody as the card knows it, "" if it does not.
func (v *Document) called(id string) string {
	c, name := v.card, tokenName(v.Texts, id)
	for _, known := range slices.Concat([]core.Actor{c.Requested, c.Editor, c.Decided}, c.Voters, c.Against) {
		if known.ID == id && known.Name != id {
			name = cmp.Or(name, known.Name)
		}
	}
	return name
}

// maxNameID is the longest id that a name with misleading letters is shown with.
const maxNameID = 80

// person is somebody by their name, and by their id only if the name has letters that look like others. Whose name is
// not known is somebody, but for a reader who is shown ids.
func (v *Document) person(who core.Actor, name string) Span {
	switch {
	case mask.LookAlike(who.Name) && len(who.ID) <= maxNameID:
		name = who.Called()
	case name == who.ID || safetext.Name(name) == "":
		name = who.Name
	}
	if safetext.Name(name) == "" {
		name = v.called(who.ID)
	}
	if name == "" && v.reader.IDs {
		name = who.ID
	}
	return Span{Kind: Person, Who: who, Text: cmp.Or(name, v.Somebody)}
}

// addPerson adds who did something, unless nobody knows here who that is.
func (v *Document) addPerson(part Part, label string, who core.Actor, name string) {
	if p := v.person(who, name); p.Text != v.Somebody || v.here(who.ID) {
		v.add(part, label, p)
	}
}

// votes adds how many votes there are, of how many, and whose, if it takes several.
func (v *Document) votes(label string, voters []core.Actor, of int) {
	if of <= 1 {
		return
	}
	spans := []Span{own(wording.Fill(v.CountOf, "{count}", strconv.Itoa(len(voters)), "{of}", strconv.Itoa(of)))}
	if len(voters) > 0 {
		spans = append(spans, own(": "))
	}
	v.add(Votes, label, append(spans, v.people(Person, voters)...)...)
}

// people are people in a row, as many as the reader's surface shows.
func (v *Document) people(kind SpanKind, who []core.Actor) (spans []Span) {
	for i, one := range who {
		if v.reader.Approvers > 0 && i == v.reader.Approvers {
			return append(spans, own(" "+wording.Fill(v.MorePeople, "{count}", strconv.Itoa(len(who)-i))))
		}
		if i > 0 {
			spans = append(spans, own(", "))
		}
		span := Span{Kind: kind, Text: one.Name, Who: one}
		if kind == Person {
			span = v.person(one, one.Name)
		}
		spans = append(spans, span)
	}
	return spans
}

// tokenName names a person of the web pages by their token, and the person at gatehouse's own machine; "" for anybody
// else.
func tokenName(t *wording.Texts, id string) string {
	name, web := strings.CutPrefix(id, "openharness:")
	switch {
	case id == core.LocalPerson:
		return t.AnyoneAtMachine
	case web && name == core.LocalPerson:
		return t.SomebodyAtMachine
	case web && tokenNames.MatchString(name):
		return wording.Fill(t.SomebodyOnWeb, "{name}", name)
	}
	return ""
}

var tokenNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
