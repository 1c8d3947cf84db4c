package discordtest

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/wire"
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
	ListCommands:      {do: ofApplication(listCommands)},
	OverwriteCommands: {do: ofApplication(overwriteCommands)},
	CreateCommand:     {do: ofApplication(createCommand)},
	GetCommand: {do: ofApplication(onCommand(func(_ *request, o object) (answer, *form.Failure) {
		return ok(o)
	}))},
	EditCommand:            {do: ofApplication(onCommand(editCommand))},
	DeleteCommand:          {do: ofApplication(onCommand(deleteCommand))},
	ListGuildCommands:      {do: ofApplication(listCommands)},
	OverwriteGuildCommands: {do: ofApplication(overwriteCommands)},
	CreateGuildCommand:     {do: ofApplication(createCommand)},
	DeleteGuildCommand:     {do: ofApplication(onCommand(deleteCommand))},
}

// ofApplication checks that a call is about the app itself, and that the bot is in the call's guild, if there is one.
func ofApplication(do func(*request) (answer, *form.Failure)) func(*request) (answer, *form.Failure) {
	return func(q *request) (answer, *form.Failure) {
		if q.path["application"] != q.s.o.ApplicationID {
			return answer{}, &form.Failure{Status: 403, Code: 20012, Message: "You are not authorized to perform " +
				"this action on this application"}
		}
		if id := q.path["guild"]; id != "" && (q.s.guilds[id] == nil || q.s.guilds[id].WithoutBot) {
			return answer{}, form.MissingAccess
		}
		return do(q)
	}
}

func onCommand(do func(*request, object) (answer, *form.Failure)) func(*request) (answer, *form.Failure) {
	return func(q *request) (answer, *form.Failure) {
		for _, o := range q.s.commands[q.path["guild"]] {
			if wire.String(o, "id") == q.path["command"] {
				return do(q, o)
			}
		}
		return answer{}, form.UnknownCommand
	}
}

func listCommands(q *request) (answer, *form.Failure) {
	return ok(wire.NotNil(q.s.commands[q.path["guild"]]))
}

// asCommand returns a command as Discord stores it. A command equal to the old one keeps its id and version.
func (s *Server) asCommand(o, old object, guild string) object {
	made := object{
		"application_id": s.o.ApplicationID, "type": 1.0, "description": "", "name_localizations": nil,
		"description_localizations": nil, "default_member_permissions": nil,
		"dm_permission": true, "nsfw": false, "integration_types": []any{0.0}, "contexts": nil, "options": []any{},
	}
	for key, value := range withoutNulls(o) {
		if key != "id" && key != "version" {
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

// withoutNulls returns a command, or an option of one, without the fields that are null.
func withoutNulls(o object) object {
	kept := object{}
	for key, value := range o {
		if value != nil {
			kept[key] = value
		}
	}
	if inner := wire.List(o, "options"); inner != nil {
		options := []any{}
		for _, one := range inner {
			options = append(options, withoutNulls(one))
		}
		kept["options"] = options
	}
	return kept
}

func (s *Server) oldCommand(guild string, o object) object {
	for _, old := range s.commands[guild] {
		if wire.String(old, "name") == wire.String(o, "name") &&
			max(1, wire.Int(old, "type")) == max(1, wire.Int(o, "type")) {
			return old
		}
	}
	return nil
}

// entryPoint is the type of the command that opens an app's activity.
const entryPoint = 4

func overwriteCommands(q *request) (answer, *form.Failure) {
	s, guild := q.s, q.path["guild"]
	items, isList := q.whole.([]any)
	if !isList {
		return answer{}, form.BadField("", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
	}
	bad := &form.Errors{}
	kept := []object{}
	for i, item := range items {
		o, _ := item.(object)
		form.CheckCommand(o, strconv.Itoa(i), bad)
		if slices.ContainsFunc(kept, func(k object) bool { return wire.String(k, "name") == wire.String(o, "name") }) {
			bad.Add(strconv.Itoa(i), "APPLICATION_COMMANDS_DUPLICATE_NAME", "Application command names must be unique")
		}
		kept = append(kept, o)
	}
	if f := bad.Failure(); f != nil {
		return answer{}, f
	}
	isEntry := func(o object) bool { return wire.Int(o, "type") == entryPoint }
	if slices.ContainsFunc(s.commands[guild], isEntry) && !slices.ContainsFunc(kept, isEntry) {
		return answer{}, form.EntryPointKept
	}
	for i, o := range kept {
		kept[i] = s.asCommand(o, s.oldCommand(guild, o), guild)
	}
	s.commands[guild] = kept
	s.overwrites++
	s.changed()
	return ok(kept)
}

func createCommand(q *request) (answer, *form.Failure) {
	s, guild := q.s, q.path["guild"]
	bad := &form.Errors{}
	form.CheckCommand(q.fields, "", bad)
	if f := bad.Failure(); f != nil {
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

func editCommand(q *request, o object) (answer, *form.Failure) {
	changed := maps.Clone(o)
	maps.Copy(changed, q.fields)
	bad := &form.Errors{}
	form.CheckCommand(changed, "", bad)
	if f := bad.Failure(); f != nil {
		return answer{}, f
	}
	maps.Copy(o, q.fields)
	o["version"] = q.s.newID()
	q.s.changed()
	return ok(o)
}

func deleteCommand(q *request, o object) (answer, *form.Failure) {
	guild := q.path["guild"]
	q.s.commands[guild] = slices.DeleteFunc(slices.Clone(q.s.commands[guild]), func(other object) bool {
		return other["id"] == o["id"]
	})
	q.s.changed()
	return nothing()
}

// Commands returns the names of a guild's commands, "" for the global ones, in the order of their registration.
func (s *Server) Commands(guild string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []string{}
	for _, o := range s.commands[guild] {
		found = append(found, wire.String(o, "name"))
	}
	return found
}

// CommandOverwrites counts the bulk overwrites of commands so far.
func (s *Server) CommandOverwrites() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.overwrites
}
