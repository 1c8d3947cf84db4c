package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// checkError compares an error: its category, the node that it was raised from and what it carries.
func checkError(r *runner, t *evidence.Turn, v *fixture.Node) {
	t.ErrorExpected = true
	r.must(t.Errored(), v, "the turn did not fail: it is %s", t.Status)
	if !v.IsMapping() {
		r.is(v, t.Category)
		return
	}
	keys(v, map[string]func(*fixture.Node){
		"category": func(d *fixture.Node) {
			// a model's error is named as it is, or as the node's
			if r.models == nil || d.Text() != string(evidence.CarrierOf(t.Err)) {
				r.is(d, t.Category)
			}
		},
		"raised_from": func(d *fixture.Node) {
			r.must(slices.Contains(t.Place, d.Text()), d, "it is not raised from %q: %v", d.Text(), t.Err)
		},
		"raised_at": func(d *fixture.Node) {
			r.must((d.Text() == "registration") == (t.Result() == nil), d, "it was raised elsewhere: %v", t.Err)
		},
		"message":              func(d *fixture.Node) { r.hasMessage(d, t.Err) },
		"recoverable_state":    func(d *fixture.Node) { r.recoverable(d, t.Err) },
		"execution_order":      func(d *fixture.Node) { checkExecutionOrder(r, t, d) },
		"carries":              func(d *fixture.Node) { r.carries(d, t.Err) },
		"cause":                func(d *fixture.Node) { r.cause(d, t.Err) },
		"cause.exception_type": func(d *fixture.Node) { r.exceptionType(d, t.Err) },
	})
}

// hasMessage adds a fault unless an error in the chain has exactly this text.
func (r *runner) hasMessage(d *fixture.Node, err error) {
	found := false
	for link := err; link != nil && !found; link = errors.Unwrap(link) {
		var e *core.Error
		found = link.Error() == d.Text() || errors.As(link, &e) && e.Message == d.Text()
	}
	r.must(found, d, "no error in %q has the message %q", err, d.Text())
}

func (r *runner) recoverable(d *fixture.Node, err error) {
	var carrier *graph.Error
	if r.must(errors.As(err, &carrier) && !carrier.State.IsZero(), d, "the error carries no state: %v", err) {
		r.state(d, evidence.StateFields(carrier.State))
	}
}

// carried returns what an error carries, under the spec's names.
func carried(err error) map[string]any {
	out := map[string]any{}
	var m *graph.MigrationError
	if errors.As(err, &m) {
		out["from_version"], out["to_version"] = m.From, m.To
		out["registered_migrations_count"], out["registry_description"] = int64(m.Registered), m.Description
	}
	var g *graph.Error
	if errors.As(err, &g) {
		out["node"], out["producing_node"], out["field"], out["reducer"] = g.Node, g.Node, g.Field, g.Reducer
	}
	if err != nil {
		out["message"], out["description"] = err.Error(), err.Error()
	}
	if cause := errors.Unwrap(err); cause != nil {
		out["cause"] = cause.Error()
	}
	return out
}

func (r *runner) carries(v *fixture.Node, err error) {
	have := carried(err)
	v.Each(func(key string, d *fixture.Node) bool {
		present, isPresent := strings.CutSuffix(key, "_present")
		mentioned, isMentioned := strings.CutSuffix(key, "_mentions")
		got, there := have[key]
		switch {
		case isPresent:
			got = have[present]
			r.must((got != nil && got != "") == d.Flag(true), d, "%s is %s", present, fixture.Show(got))
		case isMentioned:
			r.mentions(d, mentioned, have[mentioned])
		case key == "cause.exception_type":
			r.exceptionType(d, err)
		case key == "cause" && d.IsMapping():
			r.cause(d, err)
		case there:
			r.includes(d, got)
		default:
			return false
		}
		return true
	})
}

// mentions searches for a text, or for each text of a list.
func (r *runner) mentions(d *fixture.Node, name string, got any) {
	texts, isList := d.Value().([]any)
	if !isList {
		texts = []any{d.Text()}
	}
	have, _ := got.(string)
	for _, text := range texts {
		r.must(strings.Contains(have, fmt.Sprint(text)), d, "%s is %q and does not mention %q", name, have, text)
	}
}

func (r *runner) cause(v *fixture.Node, err error) {
	keys(v, map[string]func(*fixture.Node){
		"exception_type": func(d *fixture.Node) { r.exceptionType(d, err) },
		"message":        func(d *fixture.Node) { r.hasMessage(d, err) },
		"category":       func(d *fixture.Node) { r.is(d, core.CategoryOf(errors.Unwrap(err))) },
	})
}

func (r *runner) exceptionType(v *fixture.Node, err error) {
	var named interface{ TypeName() string }
	r.must(errors.As(err, &named) && named.TypeName() == v.Text(), v, "the cause is no %s: %v", v.Text(), err)
}
