package proof_test

import (
	"encoding/json"
	"testing"
	"time"

	"gatehouse/approvals/proof"
	"gatehouse/core"
	"gatehouse/core/tool"
)

const (
	thisYear = "the secret key of this year"
	lastYear = "the secret key of last year"
)

func keysOf(t testing.TB, secrets ...string) *proof.Keys {
	t.Helper()
	signer, err := core.NewSigner(secrets...)
	if err != nil {
		t.Fatal(err)
	}
	return proof.NewKeys(signer)
}

// fataler is what testing.TB and rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// decided is an approval in a state.
func decided(t fataler, state core.ApprovalState, arguments string) core.Approval {
	t.Helper()
	digest, err := tool.Digest("external.ci.deploy", json.RawMessage(arguments))
	if err != nil {
		t.Fatal(err)
	}
	return core.Approval{
		ID: "ap-1", State: state, Requester: core.Actor{ID: "external:ci"}, Rule: core.Rule{Name: "deploys"},
		Call:      core.Call{Tool: "external.ci.deploy", Arguments: json.RawMessage(arguments), Digest: digest},
		DecidedBy: core.Actor{ID: "slack:U1", Name: "Ann"},
		DecidedAt: time.Date(2026, 11, 3, 14, 0, 0, 5, time.FixedZone("", 3600)),
	}
}

const deploy = `{"service": "shop", "version": 7}`

// claims are those of an approved request to deploy.
func claims(t testing.TB) proof.Claims {
	t.Helper()
	c, err := proof.Of(decided(t, core.Approved, deploy))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func sign(t testing.TB, k *proof.Keys, c proof.Claims) string {
	t.Helper()
	text, err := k.Sign(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
