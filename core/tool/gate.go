package tool

import (
	"slices"

	"gatehouse/core"
	"gatehouse/core/typestate"
)

// Prefix is the evidence of what a turn did before a mutating call, without the call itself. The zero Prefix is no evidence, and lets
// nothing run.
type Prefix struct {
	Evidence typestate.Evidence
	Policy   string // the digest of the mutation policy that holds now
}

// Ask judges a prefix before an approval is requested: no approval is requested for a call that could not run. It gives what the
// approval is bound to. Errors: not_allowed, with the classes.
func (p Prefix) Ask(schema string) (core.Binding, error) {
	report, err := p.check()
	if err != nil {
		return core.Binding{}, err
	}
	b := core.Binding{Schema: schema, CallSpec: report.Normalized.Digests.CallSpec, Policy: p.Policy, Witness: report.Witness.Ref()}
	return b, p.gate(b)
}

// gate is the second half of law 5's gate: the contract's MutationReady, computed again. The witness counts as linked if the approval's
// witness and call spec are those of this evidence. Errors: approval_stale if only the policy has changed, otherwise not_allowed.
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
		return core.Errorf(core.ApprovalStale, "The rules for this call changed after approval was requested, so nothing was done.")
	}
	return v.Refusal()
}

func (p Prefix) check() (*typestate.Report, error) {
	report, err := typestate.JoinCheck(typestate.Input{Evidence: p.Evidence})
	if err != nil {
		return nil, core.Wrap(core.NotAllowed, err, "The record of the earlier steps of this turn is incomplete (%s), so nothing was done.",
			typestate.EvidenceMissing)
	}
	return report, nil
}
