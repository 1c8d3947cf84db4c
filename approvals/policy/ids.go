package policy

import (
	"regexp"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

var entryName = regexp.MustCompile(`^[\p{L}\p{N}_.-]+$`)

// PlatformOf returns the platform that the id of a person or a group begins with.
func PlatformOf(id string) string {
	platform, _, _ := strings.Cut(id, ":")
	return platform
}

// isGroup reports whether an id stands for people whose number only the platform knows: its groups and roles, and the
// local people.
func isGroup(known core.Platforms, id string) bool {
	return id == core.LocalPerson || known.Group(id)
}

// checkID returns what is wrong with the id of a person or a platform's group, and the remedy; "" = nothing.
func checkID(known core.Platforms, id string) (what, do string) {
	name, _, whole := strings.Cut(id, ":")
	p, text, ok := known.Of(id)
	switch {
	case !whole && id == core.LocalPerson:
		return "", ""
	case !whole:
		return strictyaml.Quoted(id) + " is no id",
			"write PLATFORM:ID, such as " + known.Meant(id) + ", or person:NAME or group:NAME"
	case !ok:
		return strictyaml.Quoted(id) + " is of the unknown platform " + strictyaml.Quoted(name),
			strictyaml.Meant(name, known.Names())
	case !p.Person.Matches(text) && !p.Group.Matches(text):
		return strictyaml.Quoted(id) + " is no " + p.Wanted, p.Remedy
	}
	return "", ""
}

// checked is a sentence about the id of a person or a platform's group, without its end; "" = nothing is wrong.
func checked(known core.Platforms, id string) string {
	what, do := checkID(known, id)
	if what == "" {
		return ""
	}
	return what + ": " + do
}

// checkChannel returns what is wrong with a value of notify, and the remedy.
func checkChannel(known core.Platforms, value string) (what, do string) {
	p, text, _ := known.Of(value)
	if value == core.NotifyHere || value == core.NotifyDM || p.Channel.Matches(text) {
		return "", ""
	}
	_, channels := known.Examples()
	return strictyaml.Quoted(value) + " is no place to notify",
		"use " + core.Either(append([]string{core.NotifyHere, core.NotifyDM}, channels...))
}
