package prompts

import (
	"context"
	"strings"
	"time"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/llm/prompt"
)

// scope is one case while it runs.
type scope struct {
	fixture.Case
	ctx      context.Context
	backends map[string]*backend
	managers map[string]*prompt.Manager
	labels   map[string]prompt.Labels
	captured map[string]*outcome
	outcomes []*outcome // of all calls, in order
	match    fixture.Matcher
}

// Run runs a case of a file and returns its faults. doc is root if the file is one case.
func Run(ctx context.Context, root, doc *fixture.Node) []string {
	s := &scope{
		ctx: ctx, backends: map[string]*backend{}, managers: map[string]*prompt.Manager{},
		labels: map[string]prompt.Labels{}, captured: map[string]*outcome{},
	}
	s.Guard(func() {
		if !doc.IsMapping() {
			doc.Malformed("a case must be a mapping")
		}
		if root != doc {
			s.declare(root)
			root.Each(func(key string, _ *fixture.Node) bool {
				return key == "cases" || key == "name" || key == "description" || key == "conformance_version"
			})
		}
		s.declare(doc)
		doc.Each(func(key string, v *fixture.Node) bool {
			if isCalls(key) {
				s.calls(v)
			}
			return isCalls(key) || key == "name" || key == "description" || key == "conformance_version"
		})
		if len(s.outcomes) == 0 {
			doc.Malformed("there are no calls")
		}
		s.expected(doc.Get("expected"))
		s.unexpected()
	})
	s.Unread(doc)
	return s.Faults
}

func isCalls(key string) bool    { return isNamed(key, "calls") }
func isManager(key string) bool  { return isNamed(key, "manager") }
func isResolver(key string) bool { return isNamed(key, "label_resolver") }

// isNamed reports whether a key is of this kind: its name itself, or a name that ends in it.
func isNamed(key, kind string) bool { return key == kind || strings.HasSuffix(key, "_"+kind) }

// declare reads backends, resolvers and managers.
func (s *scope) declare(d *fixture.Node) {
	for _, b := range d.Get("backends").Items() {
		name := b.Need("name").Text()
		if name == "" || s.backends[name] != nil && s.backends[name].declared == d.Path {
			b.Malformed("a backend needs a name of its own")
		}
		s.backends[name] = newBackend(d.Path, b)
	}
	d.Each(func(key string, v *fixture.Node) bool {
		if isResolver(key) {
			s.labels[key] = labels(v)
		}
		return isResolver(key)
	})
	d.Each(func(key string, v *fixture.Node) bool {
		if isManager(key) {
			s.managers[key] = s.manager(v)
		}
		return isManager(key)
	})
}

// labels reads a resolver: {mapping: {default: label, NAME: label}}.
func labels(d *fixture.Node) prompt.Labels {
	l := prompt.Labels{Names: map[string]string{}}
	d.Need("mapping").All(func(key string, v *fixture.Node) {
		if key == "default" {
			l.Default = v.Text()
		} else {
			l.Names[key] = v.Text()
		}
	})
	return l
}

func (s *scope) manager(d *fixture.Node) *prompt.Manager {
	m := &prompt.Manager{Now: time.Now}
	for _, item := range d.Need("backends").Items() {
		m.Backends = append(m.Backends, s.backend(item))
	}
	if ref := d.Get("label_resolver_ref"); ref != nil {
		l, known := s.labels[ref.Text()]
		if !known {
			ref.Malformed("there is no resolver %q", ref.Text())
		}
		m.Labels = l
	}
	if resolver := d.Get("label_resolver"); resolver != nil {
		m.Labels = labels(resolver)
	}
	return m
}

func (s *scope) backend(name *fixture.Node) *backend {
	b := s.backends[name.Text()]
	if b == nil {
		name.Malformed("there is no backend %q", name.Text())
	}
	return b
}
