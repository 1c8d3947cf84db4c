package slacktest

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/fakeserver"
)

// request is one call of the Web API while it is handled, under the lock.
type request struct {
	s    *Server
	args Args
}

// failure is an answer with ok:false.
type failure struct {
	code     string
	needed   string   // of missing_scope
	messages []string // response_metadata.messages
}

func fail(code string) *failure { return &failure{code: code} }

func failWith(code string, messages []string) *failure {
	return &failure{code: code, messages: messages}
}

// method is one method of the Web API.
type method struct {
	scopes []string // it needs one of them
	app    bool     // it needs the app token
	do     func(*request) (object, *failure)
}

var methods = allOf(
	authMethods, chatMethods, conversationMethods, reactionMethods, userMethods, fileMethods, viewMethods,
	assistantMethods, socketMethods,
)

func allOf(tables ...map[string]method) map[string]method {
	all := map[string]method{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// serveAPI handles and records one call: injected faults, then the token, the scope, the work.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("method")
	w.Header().Set("Date", s.o.Now().UTC().Format(http.TimeFormat)) // by the same clock as the timestamps
	args, body, readErr := readArgs(r)
	call := fakeserver.Begin(&s.Record,
		Call{Method: name, Args: args, Call: fakeserver.Call{Header: r.Header.Clone(), Body: body, At: s.o.Now()}})
	if call.Before(w, r) {
		return
	}
	status, answer := s.handle(name, r, args, readErr, w.Header())
	if call.After(w, r) {
		return
	}
	call.Finish(status, func(c *Call) { c.Error = errorOf(answer) })
	writeJSON(w, status, s.strangely(answer))
}

// handle does the work of a call and returns its answer.
func (s *Server) handle(name string, r *http.Request, args Args, readErr error, header http.Header) (int, object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, known := methods[name]
	if !known {
		return http.StatusOK, object{"ok": false, "error": "unknown_method", "req_method": name}
	}
	if readErr != nil {
		return http.StatusOK, object{"ok": false, "error": "invalid_json"}
	}
	header.Set("X-Slack-Req-Id", s.ids.secret())
	if code := s.badToken(m, tokenOf(r, args)); code != "" {
		return http.StatusOK, object{"ok": false, "error": code}
	}
	if !m.app {
		header.Set("X-OAuth-Scopes", strings.Join(s.scopes, ","))
		header.Set("X-Accepted-OAuth-Scopes", strings.Join(m.scopes, ","))
	}
	if len(m.scopes) > 0 && !slices.ContainsFunc(m.scopes, s.hasScope) {
		return http.StatusOK, s.refusal(&failure{code: "missing_scope", needed: m.scopes[0]})
	}
	if late := s.overLimit(name); late > 0 {
		header.Set("Retry-After", strconv.Itoa(late))
		return http.StatusTooManyRequests, object{"ok": false, "error": "ratelimited"}
	}
	answer, failed := m.do(&request{s: s, args: args})
	if failed != nil {
		return http.StatusOK, s.refusal(failed)
	}
	if answer == nil {
		answer = object{}
	}
	answer["ok"] = true
	return http.StatusOK, answer
}

func (s *Server) refusal(f *failure) object {
	answer := object{"ok": false, "error": f.code}
	if f.needed != "" {
		answer["needed"], answer["provided"] = f.needed, strings.Join(s.scopes, ",")
	}
	if len(f.messages) > 0 {
		answer["response_metadata"] = object{"messages": f.messages}
		if f.code == "invalid_blocks" {
			answer["errors"] = f.messages
		}
	}
	return answer
}

func tokenOf(r *http.Request, args Args) string {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return bearer
	}
	return args["token"]
}

func (s *Server) badToken(m method, token string) string {
	switch {
	case token == "":
		return "not_authed"
	case token == s.o.AppToken && s.appRevoked:
		return "token_revoked"
	case m.app && token == s.o.AppToken:
		return ""
	case m.app && token == s.o.BotToken, !m.app && token == s.o.AppToken:
		return "not_allowed_token_type"
	case token != s.o.BotToken || m.app:
		return "invalid_auth"
	}
	return s.revoked
}

func (s *Server) hasScope(scope string) bool { return slices.Contains(s.scopes, scope) }

// need checks the scope of a call whose scope depends on its arguments.
func (s *Server) need(scope string) *failure {
	if s.hasScope(scope) {
		return nil
	}
	return &failure{code: "missing_scope", needed: scope}
}

// WithdrawScope removes one scope from the bot token.
func (s *Server) WithdrawScope(scope string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scopes = slices.DeleteFunc(slices.Clone(s.scopes), func(other string) bool { return other == scope })
}

// RevokeToken makes calls with the bot token fail with token_revoked from now on.
func (s *Server) RevokeToken() { s.setToken("token_revoked") }

// RevokeAppToken makes calls with the app token fail with token_revoked from now on.
func (s *Server) RevokeAppToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appRevoked = true
}

// DeactivateAccount makes calls with the bot token fail with account_inactive from now on.
func (s *Server) DeactivateAccount() { s.setToken("account_inactive") }

// RestoreToken makes the bot token valid again.
func (s *Server) RestoreToken() { s.setToken("") }

func (s *Server) setToken(trouble string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = trouble
}

func errorOf(answer object) string {
	code, _ := answer["error"].(string)
	return code
}

func writeJSON(w http.ResponseWriter, status int, answer object) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(fakeserver.JSON(answer))
}

// LimitReads treats the app as one that is distributed outside Slack's marketplace: conversations.history and
// conversations.replies give at most 15 messages at a time, and each may be called once a minute.
func (s *Server) LimitReads() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastRead = map[string]time.Time{}
}

// overLimit returns by how many seconds a read is too early, 0 if it is not.
func (s *Server) overLimit(method string) int {
	if s.lastRead == nil || method != "conversations.history" && method != "conversations.replies" {
		return 0
	}
	now := s.o.Now()
	if wait := s.lastRead[method].Add(time.Minute).Sub(now); wait > 0 {
		return int(math.Ceil(wait.Seconds()))
	}
	s.lastRead[method] = now
	return 0
}

// Args are the arguments of a call by name. Those of a JSON body that are not strings are kept as JSON.
type Args map[string]string

// maxBody is the size limit of a body, far above that of any call.
const maxBody = 4 << 20

// readArgs reads the arguments of a call from its query and its body, in each format that Slack accepts.
func readArgs(r *http.Request) (args Args, body []byte, err error) {
	args = Args{}
	take := func(values url.Values) {
		for key, all := range values {
			if len(all) > 0 {
				args[key] = all[0]
			}
		}
	}
	take(r.URL.Query())
	body, err = io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, nil, err
	}
	kind := r.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "application/json"):
		if len(body) == 0 {
			return args, body, nil
		}
		return args, body, args.addJSON(body)
	case strings.HasPrefix(kind, "multipart/form-data"):
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if err := r.ParseMultipartForm(maxBody); err != nil {
			return args, body, err
		}
		take(r.MultipartForm.Value)
	default:
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return args, body, err
		}
		take(values)
	}
	return args, body, nil
}

// addJSON adds the fields of a JSON object.
func (a Args) addJSON(body []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return err
	}
	for key, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		a[key] = text
	}
	return nil
}

// flag reports whether a flag is set: Slack accepts true and 1.
func (a Args) flag(key string) bool { return a[key] == "true" || a[key] == "1" }
