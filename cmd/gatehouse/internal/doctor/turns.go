package doctor

import (
	"context"
	"fmt"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core/dispatch"
)

// Turns are those of a gatehouse serve that runs, and how many conversations wait on its database.
type Turns struct {
	dispatch.Load
	Waiting int
}

// checkTurns says how many turns run and wait, and what keeps others from beginning. There is nothing to say if no
// gatehouse serve answers.
func checkTurns(ctx context.Context, p Program, cfg settings.Config) []finding {
	turns, ok, err := p.Turns(ctx, cfg)
	switch {
	case err != nil:
		return []finding{{
			"turns", stateWarn, cli.Explain(err),
			"Set GATEHOUSE_METRICS_TOKEN, or GATEHOUSE_METRICS_TOKEN_FILE, here as gatehouse serve has it.",
		}}
	case !ok:
		return nil
	}
	message := fmt.Sprintf("Turns that run: %d of %d, estimated to hold %d MiB; conversations that wait: %d.",
		turns.Running, turns.Workers, turns.Held>>20, turns.Waiting)
	if turns.Waiting == 0 {
		return []finding{{"turns", stateOK, message, ""}}
	}
	switch turns.Full() {
	case "workers":
		return []finding{{
			"turns", stateWarn, message + " No worker is free.",
			"Raise GATEHOUSE_WORKERS, or run more replicas on Postgres.",
		}}
	case "memory":
		return []finding{{
			"turns", stateWarn, message + " Turns may hold no more memory.",
			"Raise GATEHOUSE_TURN_MEMORY if the machine has more, or run more replicas on Postgres.",
		}}
	}
	return []finding{{"turns", stateOK, message, ""}}
}
