package wire

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gatehouse/core/strictjson"
)

// Version is the version of the protocol that responses have.
const Version = "1.0.0"

// Namespace is the key of our own fields in extensions.
const Namespace = "dev.gatehouse"

// Bounds of what a request may hold.
const (
	maxName   = 256      // bytes of an identifier
	maxReason = 2000     // characters of a reason
	maxIntent = 64 << 10 // bytes of a user_intent, unless Limits say otherwise
	maxTyped  = 10       // fields of a question's form
)

// Request is a request that keeps the rules. Of a refused one, only ID and Correlation are set.
type Request struct {
	ID, Correlation string   // to be echoed; "" if absent, or refused
	Asked           []string // the known capabilities that are asked for, in the order of the protocol's list
	// the Shell says that it has no openharness.ui.approval. It may differ in a repetition, which is drawn for its own
	// Shell
	TextOnly              bool
	Session, Conversation string // "" if absent
	Intent                string // "" only beside a Continuation, which goes before it in any case, or an attachment
	Continuation          *Continuation
	Attachments           []Attachment
	TaskHint              TaskHint
	Reason                string // of a decision: dev.gatehouse's reason in the extensions of the request

	// to a question: dev.gatehouse's answer in the extensions of the request, any JSON; nil if it is absent
	Answer json.RawMessage
	Typed  []string // likewise, what was typed into a question's form; nil if it is absent
	// the request_id of an earlier message, in whose place this one is put unless its turn has begun; likewise
	Replaces string

	hints hints
}

// Continuation is what resumes a run or asks about it. One of the two is set. They are claims of the Shell.
type Continuation struct{ Run, Token string }

// TaskHint is what the Shell takes a message to be about, in words that the agent may know: claims, as all of a
// request.
type TaskHint struct {
	SOP      string `json:"sop_id,omitempty"`
	Plugin   string `json:"plugin_id,omitempty"`
	Business string `json:"business_key,omitempty"`
}

// hints are fields that nothing acts on yet. They tell one request from another.
type hints struct{ Tenant, RunSOP string }

// Limits are the bounds that a deployment chooses.
type Limits struct {
	Intent int // bytes of a user_intent; 0 means 64 KiB
}

// The codes of a Fault.
const (
	InvalidRequest     = "invalid_request"
	VersionUnsupported = "protocol_version_unsupported"
	InlineAttachment   = "attachment_inline_not_allowed"
)

// Fault is why a request is refused.
type Fault struct {
	Code    string
	Message string // a sentence for a developer, without any value of the body
	Field   string // such as context.user_intent: the path below the message or its request; "" if it is the whole body
}

// Decode reads the body of a request. It is accepted if the Fault is nil.
func Decode(body []byte, l Limits) (Request, *Fault) {
	root, fault := parse(body)
	if fault != nil {
		return Request{}, fault
	}
	if l.Intent <= 0 {
		l.Intent = maxIntent
	}
	d := &decoder{limits: l}
	r := part{decoder: d, v: root}.message()
	if d.fault != nil {
		return Request{ID: r.ID, Correlation: r.Correlation}, d.fault
	}
	return r, nil
}

var semver = regexp.MustCompile(`^(\d+)\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

func (p part) version() {
	v := p.required("protocol_version", strictjson.String)
	if v == nil {
		return
	}
	m := semver.FindStringSubmatch(v.String)
	switch {
	case m == nil:
		p.refuse(p.at("protocol_version"), "The field protocol_version must be a semantic version, such as %s.",
			Version)
	case strings.TrimLeft(m[1], "0") != "1":
		p.fail(
			Fault{
				Code: VersionUnsupported, Message: "This engine accepts the wire format 1.x only.",
				Field: p.at("protocol_version"),
			})
	}
}

func (p part) message() (r Request) {
	p.version()
	r.ID = p.id("request_id")
	r.Correlation = p.id("correlation_id")
	wanted := p.object("capabilities")
	r.Asked = wanted.asked()
	r.TextOnly = wanted.v.Get(Approval) != nil && !slices.Contains(r.Asked, Approval)
	q := p.request()
	if p.fault != nil {
		return r
	}
	auth := q.object("auth")
	r.hints.Tenant = auth.text("tenant_id")
	auth.text("credential_ref")
	r.Session = auth.name("session_id")
	own := q.object("extensions").object(Namespace)
	if r.Reason = own.text("reason"); utf8.RuneCountInString(r.Reason) > maxReason {
		p.refuse(own.at("reason"), "A reason has at most %d characters.", maxReason)
	}
	r.Replaces = own.id("replaces")
	r.Answer, r.Typed = own.any("answer"), own.texts("typed", maxTyped)
	q.object("context").context(&r)
	return r
}

// request gives the request in the message. Its fields are named without it.
func (p part) request() part {
	return part{decoder: p.decoder, v: p.required("request", strictjson.Object)}
}

func (p part) context(r *Request) {
	session := p.name("session_id")
	if r.Session != "" && session != "" && r.Session != session {
		p.refuse(p.at("session_id"),
			"The fields auth.session_id and context.session_id name two sessions; send the same, or one of them.")
	}
	if session != "" {
		r.Session = session
	}
	r.Conversation = p.name("conversation_id")
	r.Intent = p.text("user_intent")

	hint := p.object("task_hint")
	r.TaskHint = TaskHint{hint.text("sop_id"), hint.text("plugin_id"), hint.text("business_key")}

	next := p.object("continuation")
	r.hints.RunSOP = next.text("sop_id")
	if c := (Continuation{Run: next.text("run_id"), Token: next.text("continuation_token")}); c != (Continuation{}) {
		r.Continuation = &c
	}

	p.unused()
	r.Attachments = p.attachments()

	switch {
	case r.Continuation == nil && len(r.Attachments) == 0 && strings.TrimSpace(r.Intent) == "":
		p.refuse(p.at("user_intent"),
			"The field context.user_intent is missing or blank; only a continuation or an attachment goes without it.")
	case len(r.Intent) > p.limits.Intent:
		p.refuse(p.at("user_intent"), "The field context.user_intent has at most %d bytes here.", p.limits.Intent)
	}
}

var tiers = []string{"public", "restricted", "secret"}

// unused checks the fields of a context that nothing keeps.
func (p part) unused() {
	env := p.object("environment_state")
	for _, key := range []string{"os", "active_window", "screen_hash"} {
		env.text(key)
	}
	if tier := env.get("privacy_tier", strictjson.String); tier != nil && !slices.Contains(tiers, tier.String) {
		p.refuse(env.at("privacy_tier"), "The privacy_tier must be public, restricted or secret.")
	}
	shell := p.object("shell")
	for _, key := range []string{"shell_version", "locale", "timezone"} {
		shell.text(key)
	}
	if kind := shell.get("shell_kind", strictjson.String); kind != nil && kind.String == "" {
		p.refuse(shell.at("shell_kind"), "The field context.shell.shell_kind must not be empty.")
	}
	p.object("extensions")
}

// id reads an identifier that may be absent, but not empty.
func (p part) id(key string) string {
	if v := p.get(key, strictjson.String); v != nil && v.String == "" {
		p.refuse(p.at(key), "The field %s must not be empty.", p.at(key))
	}
	return p.name(key)
}

// name reads an identifier; "" if it is absent or refused.
func (p part) name(key string) string {
	name := p.text(key)
	if len(name) > maxName {
		p.refuse(p.at(key), "The field %s has at most %d bytes.", p.at(key), maxName)
		return ""
	}
	return name
}

// Error gives the code and the message.
func (f *Fault) Error() string { return f.Code + ": " + f.Message }
