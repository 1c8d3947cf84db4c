package core_test

import (
	"testing"
	"time"

	"gatehouse/core"
)

// A process was down while reminders were due: of these only the latest is posted. An escalation is not overtaken.
func TestALaterReminderOvertakesThoseBeforeIt(t *testing.T) {
	a := core.Approval{ID: "a", CreatedAt: noon, Rule: core.Rule{
		Remind: []time.Duration{2 * time.Hour, time.Hour, 6 * time.Hour}, Escalate: core.Escalation{After: time.Minute},
	}}
	for key, from := range map[string]time.Duration{
		"remind/a/2": 2 * time.Hour, "remind/a/1": 6 * time.Hour, "remind/a/3": never, "escalate/a": never, "": never,
	} {
		for _, after := range []time.Duration{
			time.Hour, 2*time.Hour - 1, 2 * time.Hour, 6*time.Hour - 1, 6 * time.Hour, 48 * time.Hour,
		} {
			if got, want := a.Overtaken(key, noon.Add(after)), after >= from; got != want {
				t.Errorf("%q after %s: %v, want %v", key, after, got, want)
			}
		}
	}
}

const never = 1 << 62
