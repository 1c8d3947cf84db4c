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

// newAgents makes the interfaces for other agents. opened wakes the deliverer. When ctx ends, nothing waits any longer.
func newAgents(ctx context.Context, p shared, gate *access.Gate, opened func()) agents.Options {
	store := p.store
	return agents.Options{
		Gate:      gate,
		Request:   p.service.Request,
		Requested: p.service.Requested,
		Withdraw:  p.service.WithdrawRequest,
		Callbacks: p.cfg.Callbacks.Check,
		Proof:     prover(store),
		Cards:     store.Cards,
		TakeToken: store.TakeToken,
		NewID:     cli.NewID,
		Secret: func(who core.Actor) string {
			return "whsec_" + base64.StdEncoding.EncodeToString(callbackKeys(store.Signer(), who.ID)[0])
		},
		PerMinute: agentsPerPerson * p.cfg.Rate,
		Opened:    opened,
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

// prover returns a function that signs decisions. What was erased, or is not what was asked for, has no proof.
func prover(store *storage.Store) func(core.Approval) (string, error) {
	keys := proof.NewKeys(store.Signer())
	return func(a core.Approval) (string, error) {
		claims, err := proof.Of(a)
		if core.CategoryOf(err) == core.Invalid {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return keys.Sign(claims)
	}
}

// newCallbacks makes the platform that posts decisions to agents. Each principal has keys of its own.
func newCallbacks(cfg settings.Config, store *storage.Store) *callback.Sender {
	prove := prover(store)
	return callback.New(callback.Config{
		Hosts: cfg.Callbacks,
		Body: func(ctx context.Context, id core.ApprovalID) ([]byte, error) {
			a, err := store.RecordedApproval(ctx, id)
			if err != nil {
				return nil, err
			}
			s, err := agents.StateOf(a, prove)
			if err != nil {
				return nil, err
			}
			return json.Marshal(s)
		},
		Keys: func(ctx context.Context, id core.ApprovalID) ([][]byte, error) {
			a, err := store.RecordedApproval(ctx, id)
			if err != nil {
				return nil, err
			}
			return callbackKeys(store.Signer(), a.Requester.ID), nil
		},
	})
}

// callbackKeys sign what is posted to an agent, newest first.
func callbackKeys(signer *core.Signer, principal string) [][]byte {
	return signer.Derived("callback " + principal)
}
