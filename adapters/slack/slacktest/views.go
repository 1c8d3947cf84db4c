package slacktest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"gatehouse/adapters/slack/slacktest/internal/blockkit"
)

// The limits of triggers and modals.
const (
	maxModalText    = 24
	maxPrivate      = 3000
	maxCallbackID   = 255
	maxViewBytes    = 250_000
	viewErrorPrefix = "/view"
)

// trigger is a trigger_id that was given out.
type trigger struct {
	user   string
	issued time.Time
	used   bool
}

// view is a modal on a user's screen. The one on top is the last of its user.
type view struct {
	ID     string
	user   string
	hash   string
	open   bool
	order  int
	fields object // as the app sent it, ids filled in
	errors map[string]string
}

// View is a modal as a user sees it.
type View struct {
	ID              string
	User            string
	CallbackID      string
	PrivateMetadata string
	Title           string
	Blocks          []Block
	Errors          map[string]string // what the app found wrong, by block_id
}

var viewMethods = map[string]method{
	"views.open": {do: viewsOpen},
}

func (s *Server) newTrigger(user string) string {
	id := fmt.Sprintf("%d.%d.%s", s.o.Now().UnixMilli(), s.ids.last.Add(1), s.ids.secret())
	s.triggers[id] = &trigger{user: user, issued: s.o.Now()}
	return id
}

// useTrigger returns a trigger that is still valid: it can be used once, within three seconds.
func (s *Server) useTrigger(id string) (*trigger, *failure) {
	t := s.triggers[id]
	switch {
	case id == "":
		return nil, failWith("invalid_arguments", []string{"[ERROR] missing required field: trigger_id"})
	case t == nil:
		return nil, fail("invalid_trigger_id")
	case t.used:
		return nil, fail("exchanged_trigger_id")
	case s.o.Now().Sub(t.issued) > s.o.TriggerLifetime:
		return nil, fail("expired_trigger_id")
	}
	return t, nil
}

// readView decodes and checks a modal.
func (s *Server) readView(raw string) (object, *failure) {
	var fields object
	if json.Unmarshal([]byte(raw), &fields) != nil || fields == nil {
		return nil, failWith("invalid_arguments", []string{"[ERROR] missing required field: view"})
	}
	if len(raw) > maxViewBytes {
		return nil, fail("view_too_large")
	}
	var k blockkit.Checker
	if fields["type"] != "modal" {
		k.Fault(viewErrorPrefix+"/type", "must be one of: modal")
	}
	k.TextObject(viewErrorPrefix+"/title", fields["title"], maxModalText, "plain_text")
	for _, button := range []string{"submit", "close"} {
		if fields[button] != nil {
			k.TextObject(viewErrorPrefix+"/"+button, fields[button], maxModalText, "plain_text")
		}
	}
	private, _ := fields["private_metadata"].(string)
	if utf8.RuneCountInString(private) > maxPrivate {
		k.Fault(viewErrorPrefix+"/private_metadata", "must be less than %d characters", maxPrivate+1)
	}
	callback, _ := fields["callback_id"].(string)
	if utf8.RuneCountInString(callback) > maxCallbackID {
		k.Fault(viewErrorPrefix+"/callback_id", "must be less than %d characters", maxCallbackID+1)
	}
	var blocks []Block
	list, _ := fields["blocks"].([]any)
	if fields["blocks"] == nil {
		k.Fault(viewErrorPrefix, "missing required field: blocks")
	}
	for _, b := range list {
		blocks = append(blocks, blockkit.AsBlock(b))
	}
	k.Blocks(viewErrorPrefix+"/blocks", blocks, blockkit.MaxModalBlocks)
	if fields["submit"] == nil && slices.ContainsFunc(blocks, func(b Block) bool { return b["type"] == "input" }) {
		k.Fault(viewErrorPrefix, "missing required field: submit")
	}
	if len(k.Wrong) > 0 {
		return nil, failWith("invalid_arguments", k.Wrong)
	}
	fields["blocks"] = blockkit.Fill(blocks, s.ids.next)
	return fields, nil
}

func viewsOpen(q *request) (object, *failure) {
	s := q.s
	t, failed := s.useTrigger(q.args["trigger_id"])
	if failed != nil {
		return nil, failed
	}
	fields, failed := s.readView(q.args["view"])
	if failed != nil {
		return nil, failed
	}
	t.used = true
	v := &view{
		ID: s.ids.next("V"), user: t.user, open: true, order: len(s.views), fields: fields,
		hash: s.newTS() + "." + s.ids.secret()[:6],
	}
	s.views[v.ID] = v
	s.changed()
	return object{"view": s.wireView(v)}, nil
}

func (v *view) replace(s *Server, fields object) {
	v.fields, v.hash, v.errors = fields, s.newTS()+"."+s.ids.secret()[:6], nil
	s.changed()
}

// stackOf returns the open modals of a user, the top one last.
func (s *Server) stackOf(user string) []*view {
	var stack []*view
	for _, v := range s.views {
		if v.user == user && v.open {
			stack = append(stack, v)
		}
	}
	slices.SortFunc(stack, func(a, b *view) int { return a.order - b.order })
	return stack
}

func (s *Server) wireView(v *view) object {
	out := object{
		"private_metadata": "", "callback_id": "", "clear_on_close": false, "notify_on_close": false, "close": nil,
		"submit": nil, "external_id": "",
	}
	for key, value := range v.fields {
		out[key] = value
	}
	out["id"], out["team_id"], out["hash"], out["root_view_id"] = v.ID, s.o.TeamID, v.hash, v.ID
	out["app_id"], out["bot_id"], out["app_installed_team_id"] = s.o.AppID, s.o.BotID, s.o.TeamID
	out["state"] = object{"values": object{}}
	out["previous_view_id"] = nil
	return out
}

func (v *view) snapshot() View {
	text := func(key string) string {
		s, _ := v.fields[key].(string)
		return s
	}
	blocks, _ := v.fields["blocks"].([]Block)
	return View{
		ID: v.ID, User: v.user, CallbackID: text("callback_id"), PrivateMetadata: text("private_metadata"),
		Title:  blockkit.TextOf(v.fields["title"]),
		Blocks: blocks, Errors: v.errors,
	}
}

// Shown returns the text of the modal as a user sees it.
func (v View) Shown() string { return "# " + v.Title + "\n" + blockkit.Render(v.Blocks) }

// Modal returns the modal on top of a user's screen.
func (s *Server) Modal(user string) (View, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stack := s.stackOf(user)
	if len(stack) == 0 {
		return View{}, false
	}
	return stack[len(stack)-1].snapshot(), true
}
