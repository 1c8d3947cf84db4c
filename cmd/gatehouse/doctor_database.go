package main

import (
	"context"
	"fmt"
	"strings"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/storage"
)

const mendDatabase = "See GATEHOUSE_DATABASE_URL, and that gatehouse may write there."

// checkDatabase opens the database and writes to it. One that this build would have to bring up to date is left alone: the process
// that uses it may be an older one. Store is nil where it can't be used.
func checkDatabase(ctx context.Context, cfg Config) ([]finding, core.Store) {
	name := mask("url", cfg.DatabaseURL)
	schema, known, err := storage.Version(ctx, cfg.DatabaseURL)
	switch {
	case err != nil:
		return []finding{{"database", checkFail, explain(err), mendDatabase}}, nil
	case schema > 0 && schema < known:
		return []finding{{"database", checkWarn, fmt.Sprintf("The schema of %s is %d, and this build's is %d.", name, schema, known),
			"Stop what runs on it and keep a copy; then gatehouse migrate, or the next start, brings it up to date."}}, nil
	}
	store, err := openStore(ctx, cfg.DatabaseURL, silent)
	if err != nil {
		return []finding{{"database", checkFail, explain(err), mendDatabase}}, nil
	}
	if _, err := store.PutIfAbsent(ctx, "doctor", "has been here"); err != nil {
		_ = store.Close()
		return []finding{{"database", checkFail, "Nothing can be written to " + name + ": " + explain(err), mendDatabase}}, nil
	}
	what := fmt.Sprintf("%s can be read and written; its schema is %d.", name, known)
	if schema == 0 {
		what = fmt.Sprintf("%s was not there and has been made; its schema is %d.", name, known)
	}
	return []finding{{"database", checkOK, what, ""}}, store
}

const mendPosts = "gatehouse deadletters list says why; retry or drop them."

// checkStore looks at what waits in the database: what gave up, and what this build can't go on with.
func checkStore(ctx context.Context, cfg Config, store core.Store) []finding {
	queue, err := store.Queue(ctx)
	if err != nil {
		return []finding{{"queue", checkFail, explain(err), mendDatabase}}
	}
	var found []finding
	warn := func(n int, one, many, mend string) {
		switch {
		case n == 1:
			found = append(found, finding{"queue", checkWarn, one, mend})
		case n > 1:
			found = append(found, finding{"queue", checkWarn, fmt.Sprintf(many, n), mend})
		}
	}
	if queue.Paused {
		warn(1, "No turns are taken: somebody paused them.", "", "gatehouse unpause takes them again.")
	}
	warn(queue.Dead, "1 message was given up.", "%d messages were given up.", "gatehouse deadletters list says why; retry or drop them.")
	warn(queue.DeadPosts, "1 post was refused for good.", "%d posts were refused for good.", mendPosts)
	warn(queue.InDoubt, "Of 1 post nobody knows whether it arrived.", "Of %d posts nobody knows whether they arrived.",
		"Look into the conversation whether it is there. "+mendPosts)
	if len(found) == 0 {
		found = append(found, finding{"queue", checkOK, fmt.Sprintf("Nothing was given up; %d conversations and %d posts wait.", len(queue.Entries), queue.Posts), ""})
	}
	stuck, err := unresumable(ctx, cfg, store)
	switch {
	case err != nil:
		found = append(found, finding{"paused turns", checkFail, explain(err), mendDatabase})
	case len(stuck) > 0:
		found = append(found, finding{"paused turns", checkWarn, fmt.Sprintf("This build can't go on with what waits for %s.", strings.Join(stuck, ", ")),
			"Decide them with the build, and the GATEHOUSE_AGENT, that paused them; or let people ask again."})
	}
	return found
}

// unresumable gives the approvals whose turns this build's agent can't take up once they are decided.
func unresumable(ctx context.Context, cfg Config, store core.Store) ([]string, error) {
	open, err := store.ListApprovals(ctx, core.ApprovalFilter{States: []core.ApprovalState{core.Open}})
	if err != nil || len(open) == 0 {
		return nil, err
	}
	agent, err := newAgent(cfg, store, approvals.Policy{}, nil, silent)
	if err != nil {
		return nil, err
	}
	var stuck []string
	for _, a := range open {
		paused, err := store.LoadPaused(ctx, a.Invocation, "")
		if err != nil {
			return nil, err
		}
		if paused != nil && agent.Resumable(paused) != nil {
			stuck = append(stuck, string(a.ID))
		}
	}
	return stuck, nil
}
