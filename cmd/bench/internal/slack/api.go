package slack

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/wire"
)

// maxKept is how many messages of a thread can be read back: those that a bot was posting when it was killed are among
// them.
const maxKept = 200

// maxStray is how many strays are kept.
const maxStray = 3

// scopes are those of the bot's token.
const scopes = "X-OAuth-Scopes: app_mentions:read,channels:history,channels:read,chat:write,groups:history," +
	"groups:read,im:history,im:read,im:write,mpim:history,mpim:read,reactions:write,usergroups:read,users:read"

// answers are those to the methods that return more than that they were done.
var answers = map[string][]byte{
	"auth.test": wire.Answer(http.StatusOK,
		`{"ok":true,"url":"https://bench.slack.com/","team":"Bench","user":"bench","team_id":"`+team+`","user_id":"`+
			bot+`","bot_id":"`+botID+`","is_enterprise_install":false}`, scopes),
	"bots.info": wire.Answer(http.StatusOK,
		`{"ok":true,"bot":{"id":"`+botID+`","app_id":"`+app+`","user_id":"`+bot+`","name":"bench"}}`, scopes),
	"chat.getPermalink": wire.Answer(http.StatusOK,
		`{"ok":true,"permalink":"https://bench.slack.com/archives/C0BENCH0/p1"}`, scopes),
	"conversations.members": wire.Answer(http.StatusOK,
		`{"ok":true,"members":["`+bot+`","`+Approver+`"],"response_metadata":{"next_cursor":""}}`, scopes),
	"conversations.history": wire.Answer(http.StatusOK, `{"ok":true,"messages":[],"has_more":false}`, scopes),
	"users.conversations": wire.Answer(http.StatusOK,
		`{"ok":true,"channels":[],"response_metadata":{"next_cursor":""}}`, scopes),
	"usergroups.users.list": wire.Answer(http.StatusOK, `{"ok":true,"users":[]}`, scopes),
}

var (
	did     = wire.Answer(http.StatusOK, `{"ok":true}`, scopes)
	limited = wire.Answer(http.StatusTooManyRequests, `{"ok":false,"error":"ratelimited"}`, "Retry-After: 1")
)

// answer answers a call of the Web API.
func (s *Slack) answer(r *http.Request, body []byte) []byte {
	method := path.Base(r.URL.Path)
	if method == "chat.postMessage" {
		return s.post(body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.Calls[method]++
	if answer, ok := answers[method]; ok {
		return answer
	}
	switch method {
	case "apps.connections.open":
		return wire.Answer(http.StatusOK, `{"ok":true,"url":"`+s.sockets.URL()+`"}`)
	case "chat.update":
		id, ts := argument(r, body, "channel"), argument(r, body, "ts")
		return wire.Answer(http.StatusOK, fmt.Sprintf(`{"ok":true,"channel":%q,"ts":%q}`, id, ts), scopes)
	case "conversations.info":
		id := argument(r, body, "channel")
		return wire.Answer(http.StatusOK,
			fmt.Sprintf(`{"ok":true,"channel":{"id":%q,"name":"bench","is_channel":true,"is_member":true}}`, id),
			scopes)
	case "conversations.replies":
		return wire.Answer(http.StatusOK,
			`{"ok":true,"messages":[`+strings.Join(s.kept[argument(r, body, "ts")], ",")+`],"has_more":false}`, scopes)
	case "users.info":
		id := argument(r, body, "user")
		return wire.Answer(http.StatusOK,
			fmt.Sprintf(
				`{"ok":true,"user":{"id":%q,"team_id":%q,"name":"ann","real_name":"Ann",`+
					`"profile":{"display_name":"ann"}}}`,
				id, team),
			scopes)
	}
	return did
}

// post takes a message. What is read of it is the mark of the event that it answers, and whether it is in that event's
// thread.
func (s *Slack) post(body []byte) []byte {
	count := s.posts.Add(1)
	if s.plan.Refuses(int(count)) {
		return limited
	}
	n, marked := ledger.Marked(body)
	if !marked && s.plan.Mix { // the steps of a slow turn
		return wire.Answer(http.StatusOK,
			`{"ok":true,"channel":"`+channel+`0","ts":"`+timestamp(s.world.began, int(count))+`"}`, scopes)
	}
	if !marked {
		return s.stranger(body)
	}
	in, thread := s.world.place(n)
	ts := timestamp(s.world.began.Add(time.Hour), int(count))
	switch button := s.approval(n, body); {
	case !bytes.Contains(body, []byte(thread)) || !bytes.Contains(body, []byte(in)):
		return s.stranger(body)
	case button != nil:
		s.pressSoon(n, ts, button)
	case !s.ledger.Answered(n):
		return s.stranger(body)
	}
	if s.plan.ReadBack() {
		s.record(thread, ts, body)
	}
	return wire.Answer(http.StatusOK,
		`{"ok":true,"channel":"`+in+`","ts":"`+ts+`","message":{"type":"message","ts":"`+ts+`","user":"`+bot+`"}}`,
		scopes)
}

// record keeps what a bot may read back of its message: the mark that it gave it. Of an argument that is not a form
// nothing is kept.
func (s *Slack) record(thread, ts string, body []byte) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return
	}
	metadata := form.Get("metadata")
	if metadata == "" {
		metadata = "{}"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(s.kept[thread],
		fmt.Sprintf(`{"type":"message","ts":%q,"user":%q,"bot_id":%q,"metadata":%s}`, ts, bot, botID, metadata))
	s.kept[thread] = all[max(0, len(all)-maxKept):]
}

// stranger takes a message that is no reply to an event, or in the wrong place.
func (s *Slack) stranger(body []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.Strays++
	if len(s.tally.Stray) < maxStray {
		text, err := url.QueryUnescape(string(body))
		if err != nil {
			text = string(body)
		}
		s.tally.Stray = append(s.tally.Stray, text)
	}
	return wire.Answer(http.StatusOK, `{"ok":true,"channel":"C0BENCH0","ts":"1.000001"}`, scopes)
}

// argument returns an argument of a call, from its query, a form or JSON.
func argument(r *http.Request, body []byte, name string) string {
	if value := r.URL.Query().Get(name); value != "" {
		return value
	}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		_, rest, _ := strings.Cut(string(body), strconv.Quote(name)+":\"")
		value, _, _ := strings.Cut(rest, `"`)
		return value
	}
	form, _ := url.ParseQuery(string(body)) // what can be read of it
	return form.Get(name)
}
