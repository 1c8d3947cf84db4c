package providers

import (
	"context"

	"gatehouse/cmd/conformance/internal/fixture"
)

// scope is one case while it runs.
type scope struct {
	fixture.Case
	ctx   context.Context
	doc   *fixture.Node
	mock  *mock
	calls []*call
	match fixture.Matcher

	unchecked []string
}

// Run runs a case of a file, and returns its faults and the invariants that nothing checks. doc is root if the file is
// one case.
func Run(ctx context.Context, root, doc *fixture.Node) (faults, unchecked []string) {
	s := &scope{ctx: ctx, doc: doc}
	s.Guard(func() {
		if !doc.IsMapping() {
			doc.Malformed("a case must be a mapping")
		}
		for _, d := range []*fixture.Node{root, doc} {
			d.Each(func(key string, _ *fixture.Node) bool {
				return isProse(key) || key == "cases" && d == root && root != doc
			})
		}
		s.mock = newMock(root, doc)
		defer s.mock.close()
		s.run(doc)
		s.bytesIdentical(doc.Get("expected_wire_bytes_identical"))
		s.invariants(doc.Get("invariants"), s.calls)
	})
	s.Unread(doc)
	return s.Faults, s.unchecked
}

func isProse(key string) bool {
	return key == "name" || key == "description" || key == "conformance_version"
}

// run makes the calls: those of a list, each with its expectations, or the only one, whose expectations stand next to
// it.
func (s *scope) run(doc *fixture.Node) {
	if list := doc.Get("calls"); list != nil {
		if doc.Has("call") {
			doc.Malformed("a case has either call or calls")
		}
		for _, d := range list.Items() {
			d.Each(func(key string, _ *fixture.Node) bool { return isProse(key) })
			s.one(d, d)
		}
	} else {
		s.one(doc.Need("call"), doc)
	}
	if len(s.calls) == 0 {
		doc.Malformed("there are no calls")
	}
}

// one makes a call and checks it against the expectations in expects.
func (s *scope) one(d, expects *fixture.Node) {
	c := s.call(d)
	s.calls = append(s.calls, c)
	s.wire(c, expects)
	s.expected(c, expects.Get("expected"))
	if c.err != nil && !c.expected {
		s.Fault(d, "the call failed: %v", c.err)
	}
}

// is compares a value; with subset, mappings may hold more than expected.
func (s *scope) is(v *fixture.Node, got any, subset bool) {
	if diff := s.match.Diff(v, got, subset); diff != "" {
		s.Fault(v, "%s", diff)
	}
}
