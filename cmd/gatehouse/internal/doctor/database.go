package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

const fixDatabase = "Check GATEHOUSE_DATABASE_URL, and that gatehouse may write to it. See gatehouse help " +
	"cmd/gatehouse#postgres, or cmd/gatehouse#sqlite."

// checkDatabase opens the database and writes to it. A database with an older schema is not opened, because opening
// would migrate it while an older process may be using it. The store is nil where the database can't be used.
func checkDatabase(ctx context.Context, open cli.OpenStore, cfg settings.Config) ([]finding, *storage.Store) {
	name := settings.Mask("url", cfg.DatabaseURL)
	schema, known, err := storage.Version(ctx, cfg.DatabaseURL)
	switch {
	case err != nil:
		return []finding{{"database", stateFail, cli.Explain(err), fixDatabase}}, nil
	case schema > 0 && schema < known:
		return []finding{{
			"database", stateWarn, fmt.Sprintf("%s has schema version %d, this build needs %d.", name, schema, known),
			"Stop the processes that use it and make a backup. Then run gatehouse migrate, or start gatehouse serve.",
		}}, nil
	}
	o, err := cli.StoreOptions(cfg, silent)
	if err != nil {
		return []finding{{"database", stateFail, cli.Explain(err), fixDatabase}}, nil
	}
	store, err := open(ctx, cfg.DatabaseURL, o)
	if err != nil {
		return []finding{{"database", stateFail, cli.Explain(err), fixDatabase}}, nil
	}
	began := time.Now()
	_, err = store.PutIfAbsent(ctx, "doctor", "checked")
	took := time.Since(began)
	if err != nil {
		_ = store.Close()
		return []finding{{"database", stateFail, "Can't write to " + name + ": " + cli.Explain(err), fixDatabase}}, nil
	}
	if faults, err := store.Faults(ctx); err != nil || len(faults) > 0 {
		message := fmt.Sprintf("%s is damaged: %s", name, strings.Join(faults, "; "))
		if err != nil {
			message = cli.Explain(err)
		}
		return []finding{{
			"database", stateFail, message,
			"Stop gatehouse. Restore the database from a backup, or copy what is left with sqlite3 FILE .recover.",
		}}, store
	}
	message := fmt.Sprintf("%s is readable and writable; schema version %d.", name, known)
	if schema == 0 {
		message = fmt.Sprintf("%s did not exist and was created; schema version %d.", name, known)
	}
	if took > slow {
		return []finding{{"database", stateWarn, message + " It answers slowly: a short write took " +
			took.Round(time.Millisecond).String() + ".", core.LookWhySlow}}, store
	}
	return []finding{{"database", stateOK, message, ""}}, store
}

// slow is how long a short write may take before that is told.
const slow = time.Second

const fixDead = "gatehouse deadletters list shows the causes. Retry or drop them."

// checkStore looks for dead letters in the database, and for paused turns that this build can't resume.
func checkStore(ctx context.Context, p Program, cfg settings.Config, store *storage.Store) []finding {
	queue, err := store.Queue(ctx, 1)
	if err != nil {
		return []finding{{"queue", stateFail, cli.Explain(err), fixDatabase}}
	}
	var found []finding
	warn := func(n int, one, many, fix string) {
		switch {
		case n == 1:
			found = append(found, finding{"queue", stateWarn, one, fix})
		case n > 1:
			found = append(found, finding{"queue", stateWarn, fmt.Sprintf(many, n), fix})
		}
	}
	if queue.Paused {
		warn(1, "gatehouse is paused: no new turns start.", "", "Resume with gatehouse unpause.")
	}
	warn(queue.Dead, "1 turn failed for good.", "%d turns failed for good.", fixDead)
	warn(queue.DeadPosts, "1 post was refused.", "%d posts were refused.", fixDead)
	warn(queue.InDoubt, "1 post may not have arrived.", "%d posts may not have arrived.",
		"Look for them in their conversations. "+fixDead)
	if len(found) == 0 {
		found = append(found, finding{"queue", stateOK, fmt.Sprintf("No dead letters; %d queues with waiting turns, "+
			"%d posts waiting.", queue.Queues, queue.Posts), ""})
	}
	stuck, err := unresumable(ctx, p, cfg, store)
	switch {
	case err != nil:
		found = append(found, finding{"paused turns", stateFail, cli.Explain(err), fixDatabase})
	case len(stuck) > 0:
		found = append(found, finding{"paused turns", stateWarn, fmt.Sprintf("This build can't resume the turns that "+
			"wait for these approvals: %s.", strings.Join(stuck, ", ")),
			"Decide them while the build, and the GATEHOUSE_AGENT, that paused them is running. Or let people ask " +
				"again."})
	}
	return found
}

// unresumable returns the open approvals whose turns this build's agent can't resume.
func unresumable(ctx context.Context, p Program, cfg settings.Config, store *storage.Store) ([]string, error) {
	open, err := store.ListApprovals(ctx, core.ApprovalFilter{States: []core.ApprovalState{core.Open}})
	if err != nil || len(open) == 0 {
		return nil, err
	}
	agent, err := p.Agent(cfg, store)
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
