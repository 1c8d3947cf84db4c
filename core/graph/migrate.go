package graph

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// migration turns stored fields of one schema version into those of another.
type migration struct {
	from, to string
	fn       func(map[string]any) (map[string]any, error)
}

// migrations are those of a graph: edges between schema versions.
type migrations []migration

// checkMigrations refuses incomplete and duplicate migrations.
func checkMigrations(ms []migration) (migrations, error) {
	r := migrations(ms)
	for i, m := range ms {
		if m.from == "" || m.to == "" || m.from == m.to || m.fn == nil {
			return nil,
				core.Errorf(core.Invalid, "a migration leads from one version to another, not from %q to %q", m.from,
					m.to)
		}
		if slices.ContainsFunc(ms[:i], func(o migration) bool { return o.from == m.from && o.to == m.to }) {
			return nil, r.fail(core.MigrationChainAmbiguous, m.from, m.to, nil)
		}
	}
	return slices.Clone(r), nil
}

func (r migrations) fail(c core.Category, from, to string, cause error) *MigrationError {
	pairs := make([]string, len(r))
	for i, m := range r {
		pairs[i] = m.from + "->" + m.to
	}
	description := cmp.Or(strings.Join(pairs, ", "), "none")
	return &MigrationError{Category: c, From: from, To: to, Registered: len(r), Description: description, Err: cause}
}

// migrate applies the shortest chain of migrations between two versions (sessions §7). Equal versions need none; the
// given record is not changed. Errors are *MigrationError, or session_load_failed if the stored fields can't be read.
func (r migrations) migrate(
	values map[string]json.RawMessage, from, to string,
) (map[string]json.RawMessage, [][2]string, error) {
	if from == to {
		return values, nil, nil
	}
	chain, err := r.path(from, to)
	if err != nil {
		return nil, nil, err
	}
	state, err := decodePlain(values)
	if err != nil {
		return nil, nil, core.Wrap(core.SessionLoadFailed, err, "Can't load the conversation.")
	}
	var done [][2]string
	for _, m := range chain {
		if state, err = m.apply(state); err != nil {
			return nil, nil, r.fail(core.MigrationFailed, m.from, m.to, err)
		}
		done = append(done, [2]string{m.from, m.to})
	}
	out, err := encodeFields(slices.Sorted(maps.Keys(state)), state)
	if err != nil {
		return nil, nil, r.fail(core.MigrationFailed, chain[len(chain)-1].from, to, err)
	}
	return out, done, nil
}

func (m migration) apply(state map[string]any) (out map[string]any, err error) {
	defer catch(&err)
	out, err = m.fn(state)
	if err == nil && out == nil {
		err = fmt.Errorf("the migration gave no state")
	}
	return out, err
}

// path is a breadth-first search; two shortest paths are ambiguous. A record without a version can't be migrated.
func (r migrations) path(from, to string) ([]migration, error) {
	type reach struct {
		chain []migration
		ways  int
	}
	reached := map[string]*reach{from: {ways: 1}}
	for frontier := []string{from}; len(frontier) > 0 && reached[to] == nil; {
		next := map[string]*reach{}
		var order []string
		for _, at := range frontier {
			for _, m := range r {
				if m.from != at || reached[m.to] != nil {
					continue
				}
				if next[m.to] == nil {
					next[m.to] = &reach{chain: append(slices.Clone(reached[at].chain), m)}
					order = append(order, m.to)
				}
				next[m.to].ways += reached[at].ways
			}
		}
		for _, v := range order {
			reached[v] = next[v]
		}
		frontier = order
	}
	found := reached[to]
	switch {
	case found == nil || from == "" || to == "":
		return nil, r.fail(core.MigrationMissing, from, to, nil)
	case found.ways > 1:
		return nil, r.fail(core.MigrationChainAmbiguous, from, to, nil)
	}
	return found.chain, nil
}

// decodePlain reads stored fields as plain values, for migrations.
func decodePlain(values map[string]json.RawMessage) (map[string]any, error) {
	out := make(map[string]any, len(values))
	for name, raw := range values {
		v, err := strictjson.Parse(raw, strictjson.Trusted)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		out[name] = plain(v.Any())
	}
	return out, nil
}
