package discordtest

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Routes of commands.
const (
	ListCommands           = "GET /applications/{application}/commands"
	OverwriteCommands      = "PUT /applications/{application}/commands"
	CreateCommand          = "POST /applications/{application}/commands"
	GetCommand             = "GET /applications/{application}/commands/{command}"
	EditCommand            = "PATCH /applications/{application}/commands/{command}"
	DeleteCommand          = "DELETE /applications/{application}/commands/{command}"
	ListGuildCommands      = "GET /applications/{application}/guilds/{guild}/commands"
	OverwriteGuildCommands = "PUT /applications/{application}/guilds/{guild}/commands"
	CreateGuildCommand     = "POST /applications/{application}/guilds/{guild}/commands"
	DeleteGuildCommand     = "DELETE /applications/{application}/guilds/{guild}/commands/{command}"
)

var commandRoutes = map[string]route{
	ListCommands:           {do: ofApplication(listCommands)},
	OverwriteCommands:      {do: ofApplication(overwriteCommands)},
	CreateCommand:          {do: ofApplication(createCommand)},
	GetCommand:             {do: ofApplication(onCommand(func(_ *request, o object) (answer, *failure) { return ok(o) }))},
	EditCommand:            {do: ofApplication(onCommand(editCommand))},
	DeleteCommand:          {do: ofApplication(onCommand(deleteCommand))},
	ListGuildCommands:      {do: ofApplication(listCommands)},
	OverwriteGuildCommands: {do: ofApplication(overwriteCommands)},
	CreateGuildCommand:     {do: ofApplication(createCommand)},
	DeleteGuildCommand:     {do: ofApplication(onCommand(deleteCommand))},
}

// ofApplication checks that a call is about the app itself, and in a guild of its own if in any.
func ofApplication(do func(*request) (answer, *failure)) func(*request) (answer, *failure) {
	return func(q *request) (answer, *failure) {
		if q.path["application"] != q.s.o.ApplicationID {
			return answer{}, &failure{status: 403, code: 20012, message: "You are not authorized to perform this action on this application"}
		}
		if id := q.path["guild"]; id != "" && (q.s.guilds[id] == nil || q.s.guilds[id].Away) {
			return answer{}, missingAccess
		}
		return do(q)
	}
}

func onCommand(do func(*request, object) (answer, *failure)) func(*request) (answer, *failure) {
	return func(q *request) (answer, *failure) {
		for _, o := range q.s.commands[q.path["guild"]] {
			if word(o, "id") == q.path["command"] {
				return do(q, o)
			}
		}
		return answer{}, unknownCommand
	}
}

func listCommands(q *request) (answer, *failure) { return ok(notNil(q.s.commands[q.path["guild"]])) }

// commandName takes a while to compile, and most tests need it not.
var commandName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[-_'\p{L}\p{N}]{1,32}$`) })

// checkCommand finds what Discord would refuse in a command.
func checkCommand(o object, where string, bad *formErrors) {
	at := func(field string) string { return strings.TrimPrefix(where+"."+field, ".") }
	kind := integer(o, "type")
	if name := word(o, "name"); !commandName().MatchString(name) || strings.ToLower(name) != name {
		if kind <= 1 {
			bad.add(at("name"), "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
		}
	}
	if n := len([]rune(word(o, "description"))); kind <= 1 && (n < 1 || n > 100) {
		bad.add(at("description"), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	}
	optional := false
	for i, option := range list(o, "options") {
		inner := at("options." + strconv.Itoa(i))
		if integer(option, "type") == 0 {
			bad.add(inner+".type", "BASE_TYPE_REQUIRED", "This field is required")
		}
		checkCommand(object{"name": option["name"], "description": option["description"], "options": option["options"]}, inner, bad)
		if truth(option, "required") && optional {
			bad.add(inner, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", "Required options must be placed before non-required options")
		}
		optional = optional || (!truth(option, "required") && integer(option, "type") > 2)
	}
}

// asCommand is a command as Discord keeps it. One that says the same as the old one keeps its id and version.
func (s *Server) asCommand(o, old object, guild string) object {
	made := object{
		"application_id": s.o.ApplicationID, "type": 1.0, "name_localizations": nil, "description_localizations": nil, "default_member_permissions": nil,
		"dm_permission": true, "nsfw": false, "integration_types": []any{0.0}, "contexts": nil, "options": []any{},
	}
	for key, value := range o {
		if key != "id" && key != "version" && value != nil {
			made[key] = value
		}
	}
	if guild != "" {
		made["guild_id"] = guild
	}
	if old == nil {
		made["id"] = s.newID()
		made["version"] = s.newID()
		return made
	}
	made["id"], made["version"] = old["id"], old["version"]
	if !reflect.DeepEqual(made, old) {
		made["version"] = s.newID()
	}
	return made
}

func (s *Server) oldCommand(guild string, o object) object {
	for _, old := range s.commands[guild] {
		if word(old, "name") == word(o, "name") && max(1, integer(old, "type")) == max(1, integer(o, "type")) {
			return old
		}
	}
	return nil
}

func overwriteCommands(q *request) (answer, *failure) {
	s, guild := q.s, q.path["guild"]
	items, isList := q.whole.([]any)
	if !isList {
		return answer{}, badField("", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
	}
	bad := &formErrors{}
	kept := []object{}
	for i, item := range items {
		o, _ := item.(object)
		checkCommand(o, strconv.Itoa(i), bad)
		if slices.ContainsFunc(kept, func(k object) bool { return word(k, "name") == word(o, "name") }) {
			bad.add(strconv.Itoa(i), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		kept = append(kept, o)
	}
	if f := bad.failure(); f != nil {
		return answer{}, f
	}
	for i, o := range kept {
		kept[i] = s.asCommand(o, s.oldCommand(guild, o), guild)
	}
	s.commands[guild] = kept
	s.overwrites++
	s.changed()
	return ok(kept)
}

func createCommand(q *request) (answer, *failure) {
	s, guild := q.s, q.path["guild"]
	bad := &formErrors{}
	checkCommand(q.fields, "", bad)
	if f := bad.failure(); f != nil {
		return answer{}, f
	}
	old := s.oldCommand(guild, q.fields)
	made := s.asCommand(q.fields, old, guild)
	s.changed()
	if old == nil {
		s.commands[guild] = append(s.commands[guild], made)
		return created(made)
	}
	s.commands[guild][slices.IndexFunc(s.commands[guild], func(o object) bool { return o["id"] == old["id"] })] = made
	return answer{status: http.StatusOK, body: made}, nil
}

func editCommand(q *request, o object) (answer, *failure) {
	changed := object{}
	for key, value := range o {
		changed[key] = value
	}
	for key, value := range q.fields {
		changed[key] = value
	}
	bad := &formErrors{}
	checkCommand(changed, "", bad)
	if f := bad.failure(); f != nil {
		return answer{}, f
	}
	for key, value := range q.fields {
		o[key] = value
	}
	o["version"] = q.s.newID()
	q.s.changed()
	return ok(o)
}

func deleteCommand(q *request, o object) (answer, *failure) {
	guild := q.path["guild"]
	q.s.commands[guild] = slices.DeleteFunc(slices.Clone(q.s.commands[guild]), func(other object) bool { return other["id"] == o["id"] })
	q.s.changed()
	return nothing()
}

// Commands are the names of the commands of a guild, "" for the global ones, in the order in which they were registered.
func (s *Server) Commands(guild string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []string{}
	for _, o := range s.commands[guild] {
		found = append(found, word(o, "name"))
	}
	return found
}

// CommandOverwrites counts the bulk overwrites of commands so far.
func (s *Server) CommandOverwrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overwrites
}
