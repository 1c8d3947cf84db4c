package doctor

import (
	"context"
	"fmt"
	"time"

	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// checkPlatforms checks each platform that is configured; if none is, it says how one is added. store is nil where the
// database can't be used.
func (c Command) checkPlatforms(ctx context.Context, cfg settings.Config, store *storage.Store) []finding {
	checkup := core.Checkup{Approvers: cfg.Policy.Approvers(), Listen: cfg.Listen, Quick: c.Quick, Now: time.Now}
	if store != nil {
		checkup.Inbox, checkup.KV = store, store
	}
	var found, missing []finding
	for _, d := range cfg.Drivers {
		switch doctor, ok := d.(core.Doctor); {
		case !ok:
		case d.Configured():
			for _, c := range doctor.Check(ctx, checkup) {
				found = append(found, finding(c))
			}
		default:
			missing = append(missing, unconfigured(d.Name(), d.Title()))
		}
	}
	if found == nil {
		return missing
	}
	return found
}

func unconfigured(name, title string) finding {
	return finding{name, stateOK,
		title + " is not configured. You can talk to the agent on the web page of gatehouse serve, " +
			"or with gatehouse chat.",
		fmt.Sprintf("To add %s, run gatehouse manifest %s and follow gatehouse help adapters/%[2]s.", title, name)}
}
