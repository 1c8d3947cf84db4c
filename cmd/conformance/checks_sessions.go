package main

import (
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
)

func checkLoaded(r *runner, t *evidence.Turn, v *fixture.Node) {
	entry := t.Entry()
	r.must(t.Count(evidence.Load) > 0, v, "the store was not called")
	if v.IsNull() {
		r.must(!entry.Found, v, "a record was loaded")
		return
	}
	if !r.must(entry.Found, v, "no record was loaded (%v)", t.Err) {
		return
	}
	got := evidence.StateFields(entry.Loaded)
	for name := range got {
		if !slices.Contains(entry.Fields, name) {
			delete(got, name)
		}
	}
	r.state(v, got)
}

func checkScratch(r *runner, t *evidence.Turn, v *fixture.Node) {
	var scratch []string
	for name := range t.StartState {
		if r.Projected != nil && !slices.Contains(r.Projected, name) {
			scratch = append(scratch, name)
		}
	}
	if r.must(len(scratch) == 1, v, "there must be one field outside the projection, there are %v", scratch) {
		r.is(v, t.StartState[scratch[0]])
	}
}

func checkSaved(r *runner, t *evidence.Turn, v *fixture.Node) {
	if !r.must(t.After != nil, v, "nothing is stored under %q (%v)", t.Session, t.Err) {
		return
	}
	keys(v, map[string]func(*fixture.Node){
		"state":           func(d *fixture.Node) { r.state(d, t.After.State) },
		"schema_version":  func(d *fixture.Node) { r.is(d, t.After.Version) },
		"excludes_fields": func(d *fixture.Node) { r.absent(d, t.After.State) },
	})
}

// storedUnder returns the id under which a session of the fixture is stored.
func (r *runner) storedUnder(id core.SessionID) core.SessionID {
	if r.gateway != nil {
		return r.gateway.Session(id)
	}
	return id
}

// checkStoreAfter checks what is stored under the sessions that it names.
func checkStoreAfter(r *runner, _ *evidence.Turn, v *fixture.Node) {
	look := func(id *fixture.Node) *evidence.Stored {
		return r.stored(r.storedUnder(core.SessionID(id.Text())))
	}
	if id := v.Get("load_returns_none_for_session_id"); id != nil {
		got := look(id)
		r.must(got == nil, id, "there is a record: %s", fixture.Show(got.Fields()))
	}
	id := v.Get("load_returns_for_session_id")
	if id == nil {
		return
	}
	got := look(id)
	if !r.must(got != nil, id, "there is no record") {
		return
	}
	if d := v.Get("loaded_state"); d != nil {
		r.state(d, got.State)
	}
	if d := v.Get("loaded_schema_version"); d != nil {
		r.is(d, got.Version)
	}
}

// checkMigrations compares the migrations that ran. A failed one may be listed or not: the fixture language does not
// define whether it has run.
func checkMigrations(r *runner, t *evidence.Turn, v *fixture.Node) {
	ran := append([]string{}, r.Migrations...)
	if t.Category == core.MigrationFailed && len(ran) > 0 && len(v.Items()) == len(ran)-1 {
		ran = ran[:len(ran)-1]
	}
	r.is(v, ran)
	reported := []string{}
	for _, m := range t.Entry().Migrations {
		reported = append(reported, m[0]+"->"+m[1])
	}
	r.must(t.Errored() || slices.Equal(reported, r.Migrations), v, "these migrations ran: %v, the engine reports %v",
		r.Migrations, reported)
}

func checkCheckpointer(r *runner, t *evidence.Turn, v *fixture.Node) {
	keys(v, map[string]func(*fixture.Node){
		"paused_invocation_record_exists": func(d *fixture.Node) { r.is(d, t.PausedRecord != nil) },
		"record_type": func(d *fixture.Node) {
			if r.must(t.PausedRecord != nil, d, "there is no record") {
				r.is(d, t.PausedRecord.Type)
			}
		},
	})
}
