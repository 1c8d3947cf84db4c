package typestate

import (
	"reflect"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Mutation is a mutation to be judged, with a turn's evidence, a recorded gate, or both. If no gate is recorded, the
// evidence is judged now, and that judgement is the witness.
type Mutation struct {
	Action       string
	PolicyDigest string // of the active mutation policy
	Evidence     *Input // nil: none, or see Fault
	Fault        error  // why the given evidence can't be read
	Gate         *Gate  // nil: none was recorded
}

// Gate is the recorded result of a join check.
type Gate struct {
	JoinClosed     *bool // nil: not recorded
	FailureClasses []string
	WitnessRef     string

	empty bool // nothing was recorded
}

// DecodeMutation parses {mutation: {action, activeMutationPolicyDigest}, joinCheckInput, joinGate}. An error (invalid)
// means that there is no mutation to judge. Evidence that can't be read is no error but a Fault, which has a verdict:
// not ready.
func DecodeMutation(data []byte) (Mutation, error) {
	var input struct {
		Mutation struct {
			Action       string `json:"action"`
			PolicyDigest string `json:"activeMutationPolicyDigest,omitempty"`
		} `json:"mutation"`
		Gate *struct {
			Closed     *bool     `json:"joinClosed,omitempty"`
			Classes    *[]string `json:"joinFailureClasses,omitempty"`
			WitnessRef string    `json:"joinWitnessRef,omitempty"`
		} `json:"joinGate,omitempty"`
	}
	r, tree := newReader(data)
	r.value("", tree, reflect.ValueOf(&input).Elem())
	if r.err != nil {
		return Mutation{}, r.err
	}
	m := Mutation{
		Action: strings.TrimSpace(input.Mutation.Action), PolicyDigest: strings.TrimSpace(input.Mutation.PolicyDigest),
	}
	if m.Action == "" {
		r.fail("mutation.action", "must be non-empty")
	}
	if v := r.get("joinCheckInput", tree, "joinCheckInput"); v != nil && v.Kind != strictjson.Null {
		part := &reader{data: data}
		m.Evidence = &Input{}
		part.value("joinCheckInput", v, reflect.ValueOf(m.Evidence).Elem())
		if part.err != nil {
			m.Evidence, m.Fault = nil, part.err
		}
	}
	if g := input.Gate; g != nil {
		m.Gate = &Gate{JoinClosed: g.Closed, WitnessRef: strings.TrimSpace(g.WitnessRef)}
		m.Gate.empty = g.Closed == nil && g.Classes == nil && m.Gate.WitnessRef == ""
		if g.Classes != nil {
			m.Gate.FailureClasses = refs(*g.Classes)
		}
	}
	return m, r.err
}

// Check judges a mutation. It applies the reference's rules in their order (no evidence, a recorded class, not closed),
// then the contract's MUSTs on the evidence. No action is exempt: see the package comment. adapters are the
// normalizerIds that may make calls from free text; without any, none may. The error states why evidence can't be read.
func (m Mutation) Check(adapters ...string) (Verdict, error) {
	recorded := m.Gate != nil && !m.Gate.empty
	if m.Evidence == nil && !recorded {
		return verdict(EvidenceMissing), m.Fault
	}
	var classes []Class
	if recorded {
		for _, c := range m.Gate.FailureClasses {
			classes = append(classes, Class(c))
		}
	}
	var report *Report
	fault := m.Fault
	if m.Evidence != nil {
		if report, fault = JoinCheck(*m.Evidence); fault == nil {
			classes = append(classes, report.FailureClasses...)
		}
	}
	switch {
	case len(classes) > 0:
		return verdict(classes...), fault
	case recorded && (m.Gate.JoinClosed == nil || !*m.Gate.JoinClosed):
		return verdict(JoinIncomplete), fault
	case report == nil:
		return verdict(EvidenceMissing), fault
	}
	now := Readiness{PolicyDigest: m.PolicyDigest, WitnessRef: report.Witness.Ref(), Adapters: adapters}
	if m.Gate != nil {
		now.WitnessRef = m.Gate.WitnessRef
	}
	return MutationReady(report, *m.Evidence, now), nil
}

// Refusal is the error of a verdict that is not ready, for the requester; nil if it is ready.
func (v Verdict) Refusal() error {
	if v.MutationReady {
		return nil
	}
	classes := make([]string, len(v.FailureClasses))
	for i, c := range v.FailureClasses {
		classes[i] = string(c)
	}
	return core.Errorf(core.NotAllowed,
		"The change is not allowed after the earlier steps of this turn (%s), so nothing was done.",
		strings.Join(classes, ", "))
}
