package retry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core/retry"
)

func TestLoopsLookAtTheSameMoments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 500 * time.Millisecond
		time.Sleep(retry.UntilPoll(2 * interval))
		for _, after := range []time.Duration{0, time.Nanosecond, interval / 2, interval - 1} {
			time.Sleep(after)
			wait := retry.UntilPoll(interval)
			if wait <= 0 || wait > interval || (after+wait)%interval != 0 {
				t.Errorf("%v after a look: the next one after %v", after, wait)
			}
			time.Sleep(wait)
		}
	})
}
