package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// reply is what the endpoint answered.
type reply struct {
	Status int
	Header http.Header
	Raw    []byte
	Answer struct {
		ProtocolVersion string   `json:"protocol_version"`
		RequestID       *string  `json:"request_id"`
		CorrelationID   *string  `json:"correlation_id"`
		Versions        []string `json:"supported_protocol_versions"`
		Denials         []struct{ Capability, Code string }
		Response        struct {
			Status     string
			Directives []directive `json:"action_directives"`
			Error      *struct {
				Code, Message string
				Retryable     bool
				Details       map[string]any
			}
			Extensions map[string]extension
		}
	}
}

type directive struct {
	ActionType string `json:"action_type"`
	RiskTier   string `json:"risk_tier"`
	Payload    struct {
		Text, Message string
		RunID         string `json:"run_id"`
		Pending       bool
		Choices       []button
	}
	Extensions map[string]extension
}

type extension struct {
	ID, Seq, Kind, State string
	Status, Withdraw     continuation
	Answer               continuation
	Actions              []button
	Choices              []button
}

type button struct {
	ID           string
	Continuation continuation
}

type continuation struct {
	Run   string `json:"run_id"`
	Token string `json:"continuation_token"`
}

// texts are the messages that a Shell without cards shows.
func (r reply) texts() (all []string) {
	for _, d := range r.Answer.Response.Directives {
		if d.ActionType == "render_message" {
			all = append(all, d.Payload.Text)
		}
	}
	return all
}

// card is the last directive that asks for an approval.
func (r reply) card() *directive {
	for i := len(r.Answer.Response.Directives) - 1; i >= 0; i-- {
		if d := &r.Answer.Response.Directives[i]; d.ActionType == "request_approval" {
			return d
		}
	}
	return nil
}

// choice is the continuation of a choice; the zero one if there is none.
func (d *directive) choice(id string) continuation {
	if d != nil {
		for _, c := range d.Payload.Choices {
			if c.ID == id {
				return c.Continuation
			}
		}
	}
	return continuation{}
}

func (d *directive) own() extension { return d.Extensions["dev.gatehouse"] }

func (r reply) code() string {
	if r.Answer.Response.Error == nil {
		return ""
	}
	return r.Answer.Response.Error.Code
}

// shell is a Shell of a running gatehouse. Its answers are compared with the protocol's schema, if that is there.
type shell struct {
	t      *testing.T
	at     string // http://HOST:PORT
	token  string // "": none is sent
	client *http.Client
	header http.Header
}

func newShell(t *testing.T, at, token string) *shell {
	return &shell{t: t, at: at, token: token, client: &http.Client{Timeout: patience}, header: http.Header{}}
}

// post sends a body as it is. A header with an empty value is removed.
func (s *shell) post(body []byte) reply {
	s.t.Helper()
	r, err := s.try(http.MethodPost, bytes.NewReader(body))
	if err != nil {
		s.t.Fatalf("POST: %v", err)
	}
	return r
}

func (s *shell) try(method string, body io.Reader) (r reply, err error) {
	q, err := http.NewRequest(method, s.at+"/v1/openharness", body)
	if err != nil {
		return r, err
	}
	q.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		q.Header.Set("Authorization", "Bearer "+s.token)
	}
	for key, values := range s.header {
		q.Header[key] = values
	}
	answer, err := s.client.Do(q)
	if err != nil {
		return r, err
	}
	defer answer.Body.Close()
	r.Status, r.Header = answer.StatusCode, answer.Header
	if r.Raw, err = io.ReadAll(answer.Body); err != nil {
		return r, err
	}
	if err := json.Unmarshal(r.Raw, &r.Answer); err != nil {
		return r, fmt.Errorf("the answer is no envelope (%d): %w: %.300s", r.Status, err, r.Raw)
	}
	var denials struct {
		All []struct{ Capability, Code string } `json:"capability_denials"`
	}
	_ = json.Unmarshal(r.Raw, &denials)
	r.Answer.Denials = denials.All
	return r, conforms(r.Raw)
}

// conforms compares a response message with the protocol's schema, if that is there.
func conforms(raw []byte) error {
	schema := responseSchema()
	if schema == nil {
		return nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err := d.Decode(&v)
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		return fmt.Errorf("the message is not valid: %w: %.600s", err, raw)
	}
	return nil
}

// valid fails the test unless a message conforms.
func (s *shell) valid(raw []byte) {
	s.t.Helper()
	if err := conforms(raw); err != nil {
		s.t.Error(err)
	}
}

// request is a request message of a session, with an id.
func request(id, session, intent string) map[string]any {
	m := map[string]any{
		"protocol_version": "1.0.0",
		"request":          map[string]any{"context": map[string]any{"session_id": session, "user_intent": intent}},
	}
	if id != "" {
		m["request_id"] = id
	}
	return m
}

// with adds a continuation to a request.
func with(m map[string]any, c continuation) map[string]any {
	m["request"].(map[string]any)["context"].(map[string]any)["continuation"] = map[string]any{
		"run_id": c.Run, "continuation_token": c.Token,
	}
	return m
}

func because(m map[string]any, reason string) map[string]any {
	m["request"].(map[string]any)["extensions"] = map[string]any{"dev.gatehouse": map[string]any{"reason": reason}}
	return m
}

func (s *shell) send(m map[string]any) reply {
	s.t.Helper()
	body, err := json.Marshal(m)
	noErr(s.t, err)
	return s.post(body)
}

// must fails unless the request succeeded.
func (s *shell) must(r reply) reply {
	s.t.Helper()
	if r.Status != http.StatusOK || r.Answer.Response.Status != "success" {
		s.t.Fatalf("got %d: %s", r.Status, r.Raw)
	}
	return r
}

// refused fails unless the request was refused with this code.
func (s *shell) refused(r reply, status int, code string) reply {
	s.t.Helper()
	if r.Status != status || r.code() != code {
		s.t.Fatalf("got %d %s, want %d %s: %s", r.Status, r.code(), status, code, r.Raw)
	}
	return r
}

// newEngine starts gatehouse serve with these tokens (NAME=TOKEN or NAME!=TOKEN).
func newEngine(t *testing.T, e engine, tokens []string, env ...string) *serveProcess {
	t.Helper()
	p := newServeProcess(t, e,
		append(
			[]string{
				"GATEHOUSE_TOKENS=" + strings.Join(tokens, ","), "GATEHOUSE_LOG_LEVEL=debug", "GATEHOUSE_AGENT=demo",
			}, env...)...)
	p.open()
	return p
}

// notesOf are the notes of an OpenHarness conversation.
func (p *serveProcess) notesOf(name, session string) []string {
	p.t.Helper()
	notes, err := p.store.Notes(p.t.Context(), "openharness:oh/"+name+"/"+session)
	noErr(p.t, err)
	return notes
}

func (p *serveProcess) messagesOf(name, session string) (n int) {
	p.t.Helper()
	for _, e := range p.events(
		core.EventFilter{Conversation: core.ConversationID("openharness:oh/" + name + "/" + session)}) {
		if e.Kind() == core.KindMessage {
			n++
		}
	}
	return n
}

// soon is a time limit for what must not wait.
const soon = 20 * time.Second
