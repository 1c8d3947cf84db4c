package agents

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"gatehouse/adapters/access"
	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/core/tool"
)

// Ask is what an agent requests, as the body of POST /v1/approvals has it: an approval of an action or, with a
// question, an answer.
type Ask struct {
	Action  string `json:"action,omitempty"`  // what the policy knows it by, within external.PRINCIPAL.; of a question: "ask" where it is missing
	Summary string `json:"summary,omitempty"` // one sentence for the approver
	// a JSON object, which the approver sees whole; what is decided is bound to it
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Risk      string          `json:"risk,omitempty"`    // write (where it is missing) or destructive
	Expires   string          `json:"expires,omitempty"` // "30m": shortens the time that the policy gives
	Callback  string          `json:"callback_url,omitempty"`

	Question string          `json:"question,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"` // of the answer; see package question
	Of       []string        `json:"of,omitempty"`     // whom; see policy.Policy.Asks
}

// The limits of a request.
const (
	MaxBody      = 512 << 10 // bytes of a whole request
	MaxArguments = 256 << 10 // bytes
	MaxSummary   = 500       // characters
	MaxKey       = 255       // bytes of an idempotency key
	maxAsked     = 20        // people in Ask.Of
)

// What a request has where it says nothing.
const (
	riskWrite = "write"
	askAction = "ask" // of a question
)

var noArguments = json.RawMessage(`{}`)

var (
	actionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	keyForm    = regexp.MustCompile(`^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$`)
)

// prefix begins the names of the actions of a principal, as the policy knows them.
func prefix(who access.Person) string { return "external." + who.Name + "." }

// request checks what is asked, and makes it what the core knows. key "": none. newID makes an id where there is no
// key.
func (a Ask) request(
	who access.Person, key string, newID func() string, callbacks Callbacks,
) (core.AgentRequest, error) {
	r := core.AgentRequest{Requester: who.Actor, Of: a.Of}
	if key == "" {
		r.ID = core.ApprovalID(newID())
	} else {
		if len(key) > MaxKey || !keyForm.MatchString(key) {
			return r,
				core.Errorf(core.Invalid, "The idempotency key must have 1 to %d visible ASCII characters.", MaxKey)
		}
		r.ID = idOf(who, key)
	}
	if err := a.check(); err != nil {
		return r, err
	}
	if a.Callback != "" {
		if err := callbacks.Check(a.Callback); err != nil {
			return r, err
		}
		r.Callback = a.Callback
	}
	if a.Expires != "" {
		var err error
		if r.Expires, err = time.ParseDuration(a.Expires); err != nil || r.Expires < time.Second {
			return r, core.Errorf(core.Invalid, "expires must be a time such as 30m or 24h, and one second or more.")
		}
	}
	if err := a.digests(&r); err != nil {
		return r, core.Wrap(core.Invalid, err, "The request is not valid JSON: %s.", err)
	}
	var err error
	r.Call, r.Question, err = a.call(who)
	return r, err
}

// digests sets what a repetition of the request is recognized by: numbers and times that are the same, however they
// are written, and what is the same as nothing, make no other request.
func (a Ask) digests(r *core.AgentRequest) error {
	whole, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if r.Before, err = tool.Digest("request", whole); err != nil {
		return err
	}
	if a.Risk == riskWrite {
		a.Risk = ""
	}
	if a.Question != "" {
		a.Action = cmp.Or(a.Action, askAction)
	} else if len(a.Arguments) == 0 {
		a.Arguments = noArguments
	}
	if r.Expires > 0 {
		a.Expires = r.Expires.String()
	}
	a.Summary = strings.TrimSpace(a.Summary)
	if whole, err = json.Marshal(a); err == nil {
		r.Request, err = tool.ValueDigest(whole)
	}
	return err
}

// check refuses what is neither an approval nor a question, and what is too large.
func (a Ask) check() error {
	switch {
	case a.Question == "" && (len(a.Schema) > 0 || len(a.Of) > 0):
		return core.Errorf(core.Invalid, "schema and of belong to a question, and there is none.")
	case a.Question != "" && (a.Summary != "" || len(a.Arguments) > 0 || a.Risk != ""):
		return core.Errorf(core.Invalid,
			"A question has no summary, arguments or risk. Ask for the approval in a request of its own.")
	case len(a.Of) > maxAsked:
		return core.Errorf(core.Invalid, "of has %d entries, and the limit is %d.", len(a.Of), maxAsked)
	case a.Question != "" && a.Action == "":
		return nil
	case !actionForm.MatchString(a.Action):
		return core.Errorf(core.Invalid,
			"action must be a name of 1 to 64 letters, digits, _, . and -, such as deploy.")
	case a.Question != "":
		return nil
	case strings.TrimSpace(a.Summary) == "":
		return core.Errorf(core.Invalid, "summary is missing: one sentence that tells the approver what will be done.")
	case utf8.RuneCountInString(a.Summary) > MaxSummary:
		return core.Errorf(core.Invalid, "summary has %d characters, and the limit is %d.",
			utf8.RuneCountInString(a.Summary), MaxSummary)
	case len(a.Arguments) > MaxArguments:
		return core.Errorf(core.MessageTooLarge,
			"arguments have %d bytes, and the limit is %d. Nobody can read that much: send what matters.",
			len(a.Arguments), MaxArguments)
	case a.Risk != "" && a.Risk != riskWrite && a.Risk != "destructive":
		return core.Errorf(core.Invalid, "risk is write or destructive. What only reads needs no approval.")
	}
	return nil
}

// call is what the approval is bound to.
func (a Ask) call(who access.Person) (core.Call, *question.Question, error) {
	c := core.Call{Tool: prefix(who) + a.Action, Arguments: a.Arguments, Summary: strings.TrimSpace(a.Summary)}
	var asked *question.Question
	if a.Question != "" {
		q, err := question.New(a.Question, a.Schema)
		if err != nil {
			return c, nil, core.Wrap(core.Invalid, err, "People can't be asked this: %s.", err)
		}
		asked, c.Risk, c.Summary = &q, core.ReadOnly, q.Text
		if a.Action == "" {
			c.Tool += askAction
		}
	}
	if a.Risk == "destructive" {
		c.Risk = core.Dangerous
	}
	if len(c.Arguments) == 0 {
		c.Arguments = noArguments
	}
	if c.Arguments[0] != '{' {
		return c, nil, core.Errorf(core.Invalid, "arguments must be a JSON object.")
	}
	var err error
	if c.Digest, err = tool.Digest(c.Tool, c.Arguments); err != nil {
		return c, nil, core.Wrap(core.Invalid, err, "arguments can't be shown as they are: %s.", err)
	}
	return c, asked, nil
}

// idOf is the id of a request with a key: the same on every replica.
func idOf(who access.Person, key string) core.ApprovalID {
	sum := sha256.Sum256([]byte("external\x00" + who.Actor.ID + "\x00" + key))
	id, _ := uuid.FromBytes(sum[:16]) // 16 bytes: can't fail
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return core.ApprovalID(id.String())
}
