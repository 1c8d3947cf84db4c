package tool

import (
	"slices"

	"gatehouse/core"
	"gatehouse/core/typestate"
)

// Prefix is the evidence of what a turn did before a mutating call, without the call itself. The zero Prefix is no
// evidence, and lets nothing run.
type Prefix struct {
	typestate.Input
	Policy   string   // the digest of the mutation policy that holds now
	Adapters []string // the normalizerIds that may make calls from free text
}

// Ask judges a prefix before an approval is requested: no approval is requested for a call that could not run. It gives
// what the approval is bound to. Errors: not_allowed, with the classes.
func (p Prefix) Ask(schema string) (core.Binding, error) {
	report, err := p.check()
	if err != nil {
		return core.Binding{}, err
	}
	b := core.Binding{
		Schema:   schema,
		CallSpec: report.Normalized.CallSpec.Bound(),
		Policy:   p.Policy,
		Witness:  report.Witness.Ref(),
	}
	return b, p.gate(b)
}

// gate is the second half of law 5's gate: the contract's MutationReady, computed again. The witness counts as linked
// if the approval's witness and call spec are those of this evidence. Approvals that earlier builds requested hold the
// digest of the whole spec. Errors: approval_stale if only the policy has changed, otherwise not_allowed.
func (p Prefix) gate(b core.Binding) error {
	report, err := p.check()
	if err != nil {
		return err
	}
	now := typestate.Readiness{PolicyDigest: p.Policy, Adapters: p.Adapters}
	n := report.Normalized
	if b.Witness == report.Witness.Ref() && (b.CallSpec == n.CallSpec.Bound() || b.CallSpec == n.Digests.CallSpec) {
		now.WitnessRef = b.Witness
	}
	v := typestate.MutationReady(report, p.Input, now)
	if slices.Equal(v.FailureClasses, []typestate.Class{typestate.PolicyMismatch}) {
		return core.Errorf(core.ApprovalStale,
			"The rules for this call changed after approval was requested, so nothing was done.")
	}
	return v.Refusal()
}

func (p Prefix) check() (*typestate.Report, error) {
	report, err := typestate.JoinCheck(p.Input)
	if err != nil {
		return nil, core.Wrap(core.NotAllowed, err, "The record of the earlier steps of this turn is incomplete "+
			"(%s), so nothing was done.",
			typestate.EvidenceMissing)
	}
	return report, nil
}
