package form

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// commandName is compiled at its first use, since that takes a while and most tests have no command.
var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-_'\p{L}\p{N}]{1,32}$`) })

// CheckCommand finds what Discord would refuse in a command, besides what its description says.
func CheckCommand(o wire.Object, where string, bad *Errors) {
	at := func(field string) string { return strings.TrimPrefix(where+"."+field, ".") }
	kind := wire.Int(o, "type")
	if name := wire.String(o, "name"); !commandName().MatchString(name) || strings.ToLower(name) != name {
		if kind <= 1 {
			bad.Add(at("name"), "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
		}
	}
	if kind <= 1 && wire.String(o, "description") == "" {
		bad.Add(at("description"), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	optional := false
	for i, option := range wire.List(o, "options") {
		inner := at("options." + strconv.Itoa(i))
		CheckCommand(
			wire.Object{"name": option["name"], "description": option["description"], "options": option["options"]},
			inner, bad)
		if wire.Bool(option, "required") && optional {
			bad.Add(inner, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
				"Required options must be placed before non-required options")
		}
		optional = optional || (!wire.Bool(option, "required") && wire.Int(option, "type") > 2)
	}
}
