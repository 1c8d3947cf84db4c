package tool

import (
	"slices"

	"gatehouse/core"
	"gatehouse/core/typestate"
)

// Prefix is what a turn did before a mutating call, as evidence: a closed typestate, the call itself held out. The zero Prefix is no
// evidence, and lets nothing run.
type Prefix struct {
	Evidence typestate.Evidence
	Policy   string // the digest of the mutation policy that holds now
}

// Ask judges a prefix before anybody is asked to approve: what could not run is not asked for. It gives what the approval is to be
// bound to. Errors: not_allowed, with the classes.
func (p Prefix) Ask(schema string) (core.Binding, error) {
	report, err := p.check()
	if err != nil {
		return core.Binding{}, err
	}
	b := core.Binding{Schema: schema, CallSpec: report.Normalized.Digests.CallSpec, Policy: p.Policy, Witness: report.Witness.Ref()}
	return b, p.gate(b)
}

// gate is the second half of law 5's gate: the contract's MutationReady, recomputed. The witness counts as linked where the approval
// carries it, and with it the call spec, and both are what this evidence gives. Errors: approval_stale where nothing but the policy
// has changed, not_allowed for all else.
func (p Prefix) gate(b core.Binding) error {
	report, err := p.check()
	if err != nil {
		return err
	}
	now := typestate.Readiness{PolicyDigest: p.Policy}
	if b.Witness == report.Witness.Ref() && b.CallSpec == report.Normalized.Digests.CallSpec {
		now.WitnessRef = b.Witness
	}
	v := typestate.MutationReady(report, typestate.Input{Evidence: p.Evidence}, now)
	if slices.Equal(v.FailureClasses, []typestate.Class{typestate.PolicyMismatch}) {
		return core.Errorf(core.ApprovalStale, "The rules for this changed after it was asked for; nothing was done.")
	}
	return v.Refusal()
}

func (p Prefix) check() (*typestate.Report, error) {
	report, err := typestate.JoinCheck(typestate.Input{Evidence: p.Evidence})
	if err != nil {
		return nil, core.Wrap(core.NotAllowed, err, "What this turn did so far is not on record as it must be: %s. Nothing was done.",
			typestate.EvidenceMissing)
	}
	return report, nil
}
