package core

import (
	"regexp"
	"slices"
	"strings"
)

// IDs is what a platform's ids look like. An id is the platform's name, a colon, and the id's text, which the forms are
// about.
type IDs struct {
	Person, Group, Channel IDForm
	// What a text of no form is not, such as "id of a person or role of Discord", and how to get one that is.
	Wanted, Remedy string
}

// IDForm is the form of one kind of ids. The zero IDForm: the platform has none of that kind.
type IDForm struct {
	Like    *regexp.Regexp // matches the whole text
	Example string         // a whole id; "" = nobody acts with one
}

// Matches reports whether a text has the form.
func (f IDForm) Matches(text string) bool { return f.Like != nil && f.Like.MatchString(text) }

// KnownPlatform is a platform that ids may begin with.
type KnownPlatform struct {
	Name, Title string
	Configured  bool
	IDs
}

// Platforms are all platforms that ids may begin with, configured or not.
type Platforms []KnownPlatform

// PlatformsOf are those of drivers, in their order.
func PlatformsOf(drivers []Driver) (all Platforms) {
	for _, d := range drivers {
		all = append(all, KnownPlatform{d.Name(), d.Title(), d.Configured(), d.IDs()})
	}
	return all
}

// Of returns the platform that an id begins with, and the id's text; ok is false if there is none.
func (all Platforms) Of(id string) (p KnownPlatform, text string, ok bool) {
	name, text, ok := strings.Cut(id, ":")
	i := slices.IndexFunc(all, func(p KnownPlatform) bool { return ok && p.Name == name })
	if i < 0 {
		return p, text, false
	}
	return all[i], text, true
}

// Prefixes are what ids begin with, for sentences: "a:, b: or c:".
func (all Platforms) Prefixes() string {
	var prefixes []string
	for _, p := range all {
		prefixes = append(prefixes, p.Name+":")
	}
	return Either(prefixes)
}

// Either writes a list of choices: "a, b or c".
func Either(choices []string) string {
	last := len(choices) - 1
	if last < 1 {
		return strings.Join(choices, "")
	}
	return strings.Join(choices[:last], ", ") + " or " + choices[last]
}

// Group reports whether an id is that of a platform's group or role.
func (all Platforms) Group(id string) bool {
	p, text, _ := all.Of(id)
	return p.Group.Matches(text)
}

// Names are the platforms' names.
func (all Platforms) Names() (names []string) {
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names
}

// Examples are an id of each platform with channels, for sentences: people's, or those of the channels.
func (all Platforms) Examples() (people, channels []string) {
	for _, p := range all {
		if p.Channel.Like != nil {
			people, channels = append(people, p.Person.Example), append(channels, p.Channel.Example)
		}
	}
	return people, channels
}

// Meant is an id of the kind that a text without a platform is probably meant to be, for sentences: a name is that of a
// person on the first platform whose ids are names, "web:bob"; else it is an example of the platform whose ids
// look so, or Example.
func (all Platforms) Meant(text string) string {
	for _, p := range all {
		switch {
		case p.Person.Example == "" || !p.Person.Matches(text) && !p.Group.Matches(text):
		case p.Channel.Like == nil:
			return p.Name + ":" + text
		default:
			return p.Person.Example
		}
	}
	return all.Example()
}

// Example is one person's id, for sentences.
func (all Platforms) Example() string {
	people, _ := all.Examples()
	return append(people, "PLATFORM:ID")[0]
}
