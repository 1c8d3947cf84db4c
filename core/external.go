package core

import (
	"time"

	"gatehouse/core/question"
)

// External is what an approval has that another agent requested: no turn waits for it, so its decision adds no signal.
type External struct {
	Request  string `json:"request"`            // the digest of what was requested: a repetition under the same key must have the same
	Callback string `json:"callback,omitempty"` // the URL that the decision is posted to; "" = none
}

// AgentRequest is what another agent asks people for: an approval of a call or, with a Question, an answer.
type AgentRequest struct {
	ID        ApprovalID // the same for each repetition
	Requester Actor      // the principal
	Call      Call       // the tool is external.PRINCIPAL.ACTION
	Question  *question.Question
	Of        []string      // of a question: whom; see the policy
	Expires   time.Duration // shortens the time that the policy gives; 0: it does not
	Before    string        // the digest as it was taken before 2026-12: a request that was stored then has it
	External
}

// Conversation is where an agent's requests belong, so that they are told apart from what its principal says elsewhere.
func (r AgentRequest) Conversation() ConversationID {
	return ConversationID("external:" + r.Requester.ID)
}
