package slackload

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/wire"
)

// fake is a Slack that knows what a bot needs to answer mentions. It believes every token, and does to posts what Plan.Mode says.
// adapters/slack/slacktest is the one for tests: it knows far more, and costs far more time.
type fake struct {
	server *wire.Server
	ledger *ledger.Ledger
	world  world
	limit  int64 // of how many posts one is refused with 429; 0: of none
	keep   bool  // whether what is posted can be read back

	posts  atomic.Int64
	mu     sync.Mutex
	calls  map[string]int
	stray  []string          // what was posted in the wrong place, or is no reply, at most strays
	strays int               // how many there were
	kept   map[string][]byte // by thread: the messages as a list in JSON, without its brackets
}

func startFake(l *ledger.Ledger, w world, mode Mode) (*fake, error) {
	f := &fake{ledger: l, world: w, calls: map[string]int{}, kept: map[string][]byte{}, keep: mode == Kill}
	if mode == Limited {
		f.limit = limitedEach
	}
	var err error
	f.server, err = wire.Serve(f.answer)
	return f, err
}

// limitedEach: in the mode Limited, of so many posts one gets a 429.
const limitedEach = 50

// maxStray is how many strays are kept.
const maxStray = 3

// scopes are those of the bot's token.
const scopes = "X-OAuth-Scopes: app_mentions:read,channels:history,channels:read,chat:write,groups:history,groups:read,im:history,im:read,im:write," +
	"mpim:history,mpim:read,reactions:write,usergroups:read,users:read"

// answers are those to the methods that return more than that they were done.
var answers = map[string][]byte{
	"auth.test": wire.Answer(http.StatusOK, `{"ok":true,"url":"https://bench.slack.com/","team":"Bench","user":"bench","team_id":"`+team+`","user_id":"`+
		bot+`","bot_id":"`+botID+`","is_enterprise_install":false}`, scopes),
	"bots.info":             wire.Answer(http.StatusOK, `{"ok":true,"bot":{"id":"`+botID+`","app_id":"`+app+`","user_id":"`+bot+`","name":"bench"}}`, scopes),
	"chat.getPermalink":     wire.Answer(http.StatusOK, `{"ok":true,"permalink":"https://bench.slack.com/archives/C0BENCH0/p1"}`, scopes),
	"conversations.members": wire.Answer(http.StatusOK, `{"ok":true,"members":["`+bot+`"],"response_metadata":{"next_cursor":""}}`, scopes),
	"conversations.history": wire.Answer(http.StatusOK, `{"ok":true,"messages":[],"has_more":false}`, scopes),
	"users.conversations":   wire.Answer(http.StatusOK, `{"ok":true,"channels":[],"response_metadata":{"next_cursor":""}}`, scopes),
	"usergroups.users.list": wire.Answer(http.StatusOK, `{"ok":true,"users":[]}`, scopes),
}

var (
	done    = wire.Answer(http.StatusOK, `{"ok":true}`, scopes)
	limited = wire.Answer(http.StatusTooManyRequests, `{"ok":false,"error":"ratelimited"}`, "Retry-After: 1")
)

// answer answers a call of the Web API.
func (f *fake) answer(r *http.Request, body []byte) []byte {
	method := path.Base(r.URL.Path)
	if method == "chat.postMessage" {
		return f.post(body)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[method]++
	if answer, ok := answers[method]; ok {
		return answer
	}
	switch method {
	case "conversations.info":
		id := argument(r, body, "channel")
		return wire.Answer(http.StatusOK, fmt.Sprintf(`{"ok":true,"channel":{"id":%q,"name":"bench","is_channel":true,"is_member":true}}`, id), scopes)
	case "conversations.replies":
		return wire.Answer(http.StatusOK, `{"ok":true,"messages":[`+string(f.kept[argument(r, body, "ts")])+`],"has_more":false}`, scopes)
	case "users.info":
		id := argument(r, body, "user")
		return wire.Answer(http.StatusOK, fmt.Sprintf(`{"ok":true,"user":{"id":%q,"team_id":%q,"name":"ann","real_name":"Ann","profile":{"display_name":"ann"}}}`, id, team), scopes)
	}
	return done
}

// post takes a message. What is read of it is the mark of the event that it answers, and whether it is in that event's thread.
func (f *fake) post(body []byte) []byte {
	count := f.posts.Add(1)
	if f.limit > 0 && count%f.limit == 0 {
		return limited
	}
	n, marked := ledger.Marked(body)
	if !marked {
		return f.stranger(body)
	}
	in, thread := f.world.place(n)
	if !bytes.Contains(body, []byte(thread)) || !bytes.Contains(body, []byte(in)) || !f.ledger.Answered(n) {
		return f.stranger(body)
	}
	ts := timestamp(f.world.began.Add(time.Hour), int(count))
	if f.keep {
		f.record(thread, ts, body)
	}
	return wire.Answer(http.StatusOK, `{"ok":true,"channel":"`+in+`","ts":"`+ts+`","message":{"type":"message","ts":"`+ts+`","user":"`+bot+`"}}`, scopes)
}

// record keeps what a bot may read back of its message: the mark that it gave it. Of an argument that is not a form nothing is kept.
func (f *fake) record(thread, ts string, body []byte) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return
	}
	metadata := form.Get("metadata")
	if metadata == "" {
		metadata = "{}"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.kept[thread]
	if len(all) > 0 {
		all = append(all, ',')
	}
	f.kept[thread] = fmt.Appendf(all, `{"type":"message","ts":%q,"user":%q,"bot_id":%q,"metadata":%s}`, ts, bot, botID, metadata)
}

// stranger takes a message that is no reply to an event, or in the wrong place.
func (f *fake) stranger(body []byte) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.strays++
	if len(f.stray) < maxStray {
		text, err := url.QueryUnescape(string(body))
		if err != nil {
			text = string(body)
		}
		f.stray = append(f.stray, text)
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

// tally returns how often each method was called, and what was posted that is no reply.
func (f *fake) tally() (calls map[string]int, strays int, samples []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	calls = maps.Clone(f.calls)
	calls["chat.postMessage"] = int(f.posts.Load())
	return calls, f.strays, f.stray
}
