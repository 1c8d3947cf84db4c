package discordtest

import (
	"maps"
	"reflect"
	"slices"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// Routes of commands.
const (
	ListCommands  = "GET /applications/{application}/commands"
	CreateCommand = "POST /applications/{application}/commands"
	EditCommand   = "PATCH /applications/{application}/commands/{command}"
)

var commandRoutes = map[string]route{
	ListCommands: {do: ofApplication(func(q *request) (answer, *form.Failure) {
		return ok(wire.NotNil(q.s.commands))
	})},
	CreateCommand: {do: ofApplication(createCommand)},
	EditCommand:   {do: ofApplication(editCommand)},
}

// ofApplication checks that a call is about the app itself.
func ofApplication(do func(*request) (answer, *form.Failure)) func(*request) (answer, *form.Failure) {
	return func(q *request) (answer, *form.Failure) {
		if q.path["application"] != q.s.o.ApplicationID {
			return answer{}, &form.Failure{Status: 403, Code: 20012, Message: "You are not authorized to perform " +
				"this action on this application"}
		}
		return do(q)
	}
}

// asCommand returns a command as Discord stores it. A command equal to the old one keeps its id and version.
func (s *Server) asCommand(o, old object) object {
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

func (s *Server) oldCommand(o object) object {
	for _, old := range s.commands {
		if wire.String(old, "name") == wire.String(o, "name") &&
			max(1, wire.Int(old, "type")) == max(1, wire.Int(o, "type")) {
			return old
		}
	}
	return nil
}

func createCommand(q *request) (answer, *form.Failure) {
	s := q.s
	bad := &form.Errors{}
	form.CheckCommand(q.fields, "", bad)
	if f := bad.Failure(); f != nil {
		return answer{}, f
	}
	old := s.oldCommand(q.fields)
	made := s.asCommand(q.fields, old)
	s.changed()
	if old == nil {
		s.commands = append(s.commands, made)
		return created(made)
	}
	s.commands[slices.IndexFunc(s.commands, func(o object) bool { return o["id"] == old["id"] })] = made
	return ok(made)
}

func editCommand(q *request) (answer, *form.Failure) {
	n := slices.IndexFunc(q.s.commands, func(o object) bool { return wire.String(o, "id") == q.path["command"] })
	if n < 0 {
		return answer{}, form.UnknownCommand
	}
	o := q.s.commands[n]
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

// Commands returns the names of the app's commands, in the order of their registration.
func (s *Server) Commands() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := []string{}
	for _, o := range s.commands {
		found = append(found, wire.String(o, "name"))
	}
	return found
}
