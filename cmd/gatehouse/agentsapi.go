package main

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"gatehouse/adapters/access"
	"gatehouse/adapters/agents"
	"gatehouse/adapters/callback"
	"gatehouse/approvals/proof"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// agentsPerPerson is how much more an agent may request in a minute than a person may say: it may stand for many.
const agentsPerPerson = 10

// newAgents makes the interfaces for other agents. When ctx ends, nothing waits any longer.
func newAgents(ctx context.Context, p shared, gate *access.Gate, outbox agents.Outbox) agents.Options {
	return agents.Options{
		Gate:      gate,
		Approvals: p.service,
		Store:     p.store,
		Signer:    newAgentSigner(p.store),
		Callbacks: p.cfg.Callbacks,
		Outbox:    outbox,
		NewID:     cli.NewID,
		PerMinute: agentsPerPerson * p.cfg.Rate,
		Ending:    ctx.Done(),
		Log:       p.log,
	}
}

// agentRoutes are the handlers for other agents, and the keys that they check proofs with.
func agentRoutes(o agents.Options, store *storage.Store) routes {
	all := o.Routes()
	keys := proof.NewKeys(store.Signer())
	keys.Note = keyNote(store)
	all[proof.Path] = keys.Handler()
	return all
}

// keyNote says what proofs are worth; "" if they are worth more than the database.
func keyNote(store *storage.Store) string {
	if store.SignsWithItsKey() {
		return proof.KeyInDatabase
	}
	return ""
}

// agentSigner signs what agents verify.
type agentSigner struct {
	signer *core.Signer
	keys   *proof.Keys
}

func newAgentSigner(store *storage.Store) agentSigner {
	return agentSigner{store.Signer(), proof.NewKeys(store.Signer())}
}

// Proof signs a decision. What was erased, or is not what was asked for, has no proof.
func (s agentSigner) Proof(a core.Approval) (string, error) {
	claims, err := proof.Of(a)
	if core.CategoryOf(err) == core.Invalid {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return s.keys.Sign(claims)
}

// CallbackSecret is what a principal verifies callbacks with.
func (s agentSigner) CallbackSecret(who core.Actor) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(callbackKeys(s.signer, who.ID)[0])
}

// newCallbacks makes the platform that posts decisions to agents. Each principal has keys of its own.
func newCallbacks(cfg settings.Config, store *storage.Store) *callback.Sender {
	return callback.New(callback.Config{Hosts: cfg.Callbacks, Approvals: calledBack{store, newAgentSigner(store)}})
}

// calledBack are the approvals whose decisions are posted to agents.
type calledBack struct {
	store  *storage.Store
	signer agentSigner
}

// Body is the answer of GET /v1/approvals/ID.
func (c calledBack) Body(ctx context.Context, id core.ApprovalID) ([]byte, error) {
	a, err := c.store.RecordedApproval(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := agents.StateOf(a, c.signer)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// Keys are those of whoever asked for the approval.
func (c calledBack) Keys(ctx context.Context, id core.ApprovalID) ([][]byte, error) {
	a, err := c.store.RecordedApproval(ctx, id)
	if err != nil {
		return nil, err
	}
	return callbackKeys(c.store.Signer(), a.Requester.ID), nil
}

// callbackKeys sign what is posted to an agent, newest first.
func callbackKeys(signer *core.Signer, principal string) [][]byte {
	return signer.Derived("callback " + principal)
}
