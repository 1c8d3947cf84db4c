package typestate

import (
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Mutation is a mutation to be judged, with a turn's evidence, a recorded gate, or both. If no gate is recorded, the evidence is judged
// now, and that judgement is the witness.
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

// DecodeMutation parses {mutation: {action, activeMutationPolicyDigest}, joinCheckInput, joinGate}. An error (invalid) means that there
// is no mutation to judge. Evidence that can't be read is no error but a Fault, which has a verdict: not ready.
func DecodeMutation(data []byte) (Mutation, error) {
	r := &reader{}
	tree := r.parse(data)
	if r.err != nil {
		return Mutation{}, r.err
	}
	o := r.object("the input", tree).top()
	about := o.child("mutation")
	m := Mutation{Action: strings.TrimSpace(about.text("action")), PolicyDigest: strings.TrimSpace(about.maybe("activeMutationPolicyDigest"))}
	if r.err == nil && m.Action == "" {
		r.fail("mutation.action", "must be non-empty")
	}
	if v := o.get("joinCheckInput"); !absent(v) {
		m.Evidence, m.Fault = decodePart(data, v)
	}
	if g, ok := o.maybeChild("joinGate"); ok {
		m.Gate = recordedGate(g)
	}
	return m, r.err
}

func decodePart(data []byte, v *strictjson.Value) (*Input, error) {
	r := &reader{data: data}
	in := r.input(r.object("joinCheckInput", v))
	if r.err != nil {
		return nil, r.err
	}
	return &in, nil
}

func recordedGate(o object) *Gate {
	classes := o.get("joinFailureClasses")
	g := &Gate{JoinClosed: o.maybeFlag("joinClosed"), WitnessRef: strings.TrimSpace(o.maybe("joinWitnessRef"))}
	if !absent(classes) {
		g.FailureClasses = refs(o.texts("joinFailureClasses"))
	}
	g.empty = g.JoinClosed == nil && absent(classes) && g.WitnessRef == ""
	return g
}

// Check judges a mutation. It applies the reference's rules in their order (no evidence, a recorded class, not closed), then the
// contract's MUSTs on the evidence. No action is exempt: see the package comment. The error says why evidence can't be read.
func (m Mutation) Check() (Verdict, error) {
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
	now := Readiness{PolicyDigest: m.PolicyDigest, WitnessRef: report.Witness.Ref(), Adapters: []string{report.Normalized.CallSpec.NormalizerID}}
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
	return core.Errorf(core.NotAllowed, "The change is not allowed after the earlier steps of this turn (%s), so nothing was done.", strings.Join(classes, ", "))
}
