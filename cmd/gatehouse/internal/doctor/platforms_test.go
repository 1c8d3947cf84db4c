package doctor

import (
	"context"
	"testing"
	"time"

	"gatehouse/core"
)

// listing returns a lister of these events.
func listing(events []core.EventRecord) eventLister {
	return func(context.Context, core.EventFilter) ([]core.EventRecord, error) { return events, nil }
}

// An approval that was decided on the command line does not show that events from Slack arrive.
func TestASignalIsNotReceivedFromAPlatform(t *testing.T) {
	received, later := time.Unix(1_800_000_000, 0), time.Unix(1_800_009_000, 0)
	at := func(when time.Time, kind core.Kind, retryOf int64) core.EventRecord {
		return core.EventRecord{Event: core.Event{Platform: "slack", Body: core.BodyOf(kind, "")}, AcceptedAt: when, RetryOf: retryOf}
	}
	own := []core.EventRecord{at(later, core.KindSignal, 0), at(later, core.KindMessage, 3)}
	if got, err := lastReceived(t.Context(), listing(append(own, at(received, core.KindMessage, 0))), "slack"); err != nil || !got.Equal(received) {
		t.Errorf("the last event came at %s, %v", got, err)
	}
	if got, err := lastReceived(t.Context(), listing(own), "slack"); err != nil || !got.IsZero() {
		t.Errorf("no event came, and the last one was at %s, %v", got, err)
	}
}
