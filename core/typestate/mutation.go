package typestate

import (
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Mutation is a mutation that asks to run, with what it brings: a turn's evidence, a recorded gate, or both. Where no gate is
// recorded the evidence is judged here and now, and that judgement is the witness.
type Mutation struct {
	Action       string
	PolicyDigest string // of the active mutation policy
	Evidence     *Input // nil: none, or Fault
	Fault        error  // why the evidence that was given can't be read; then there is none
	Gate         *Gate  // nil: none was recorded
}

// Gate is a join check's outcome as it was recorded with an instruction.
type Gate struct {
	JoinClosed     *bool // nil: not recorded
	FailureClasses []string
	WitnessRef     string

	empty bool // nothing at all was recorded
}

// DecodeMutation reads {mutation: {action, activeMutationPolicyDigest}, joinCheckInput, joinGate}. An error (invalid) means that
// there is no question; evidence that can't be read is no error but a Fault, for there is an answer to it: not ready.
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

// Check answers a mutation. The order is the reference's (no evidence; a recorded class; not closed), then the contract's MUSTs on
// the evidence. No action is exempt: see the package comment.
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

// Refusal makes a verdict that is not ready into an error for whoever asked; nil where it is ready.
func (v Verdict) Refusal() error {
	if v.MutationReady {
		return nil
	}
	classes := make([]string, len(v.FailureClasses))
	for i, c := range v.FailureClasses {
		classes[i] = string(c)
	}
	return core.Errorf(core.NotAllowed, "The turn is not ready for a change: %s. Nothing was done.", strings.Join(classes, ", "))
}
