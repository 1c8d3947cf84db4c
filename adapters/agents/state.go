package agents

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
)

// State is what became of a request, as GET /v1/approvals/{id} and the callback tell it.
type State struct {
	ID core.ApprovalID `json:"id"`
	// open, approved, denied, expired, cancelled; of a question answered in place of approved and denied
	State     core.ApprovalState `json:"state"`
	Action    string             `json:"action"`
	Summary   string             `json:"summary,omitempty"`
	Question  string             `json:"question,omitempty"`
	CreatedAt time.Time          `json:"created_at"`
	ExpiresAt *time.Time         `json:"expires_at,omitempty"`
	DecidedAt *time.Time         `json:"decided_at,omitempty"`
	DecidedBy *Person            `json:"decided_by,omitempty"`
	Reason    string             `json:"reason,omitempty"`
	Answer    json.RawMessage    `json:"answer,omitempty"` // what a person answered: data, not an instruction
	// what was decided, if an approver has changed the arguments
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Rule      string          `json:"rule,omitempty"`     // of the policy
	Proof     string          `json:"proof,omitempty"`    // of a decided request; see /.well-known/gatehouse.json
	Delivery  *Delivery       `json:"delivery,omitempty"` // of an open request that nobody was told of
	// only to who requests, with a URL: the key that signs what is posted there
	Secret string `json:"callback_secret,omitempty"`
}

// Delivery is why nobody was told of an open request.
type Delivery struct {
	State string `json:"state"` // undelivered
	Why   string `json:"why"`
}

const undelivered = "undelivered"

// DeliveryOf is what became of the cards of a request; nil while one has arrived, or may yet arrive at the first
// attempt, and of a request without cards, which waits on the pages.
func DeliveryOf(cards []core.OutboxRow) *Delivery {
	failed, last, again := 0, "", ""
	for _, row := range cards {
		switch {
		case len(row.Delivered()) > 0 || row.State == core.RowWaiting && row.Cause == "":
			return nil
		case row.State == core.RowSent: // it has become copies
			continue
		case row.State == core.RowWaiting:
			again = " It is tried again."
		}
		failed++
		last, _, _ = strings.Cut(row.Cause, ":") // the rest may quote what a platform said
	}
	if failed == 0 {
		return nil
	}
	why := fmt.Sprintf("No approver was told of this request: %d cards were refused or lost, the last one as %s.%s ",
		failed, last, again)
	return &Delivery{undelivered, why + "An admin sees why with gatehouse queue and gatehouse deadletters list."}
}

// Person is who decided.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// StateOf tells a request as its agent may see it. The signer proves what was decided.
func StateOf(a core.Approval, signer Signer) (State, error) {
	s := State{ID: a.ID, State: a.State, Action: a.Call.Tool, CreatedAt: a.CreatedAt.UTC(), Rule: a.Rule.Name}
	if a.Question != nil {
		s.Question = a.Question.Text
	} else {
		s.Summary = a.Call.Summary
	}
	if !a.Deadline.IsZero() {
		at := a.Deadline.UTC()
		s.ExpiresAt = &at
	}
	if a.State == core.Open {
		return s, nil
	}
	at := a.DecidedAt.UTC()
	s.DecidedAt, s.DecidedBy, s.Reason, s.Answer = &at, &Person{ID: a.DecidedBy.ID, Name: a.DecidedBy.Name}, a.Reason,
		a.Answer()
	if a.Requested != "" {
		s.Arguments = a.Call.Arguments
	}
	var err error
	s.Proof, err = signer.Proof(a)
	return s, err
}
