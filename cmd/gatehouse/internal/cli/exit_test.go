package cli

import (
	"errors"
	"testing"

	"gatehouse/core"
)

func TestExitCodes(t *testing.T) {
	for want, errs := range map[int][]error{
		ExitDone: {},
		ExitBad: {
			errors.New("x"), core.Errorf(core.StoreBusy, "x"), core.Errorf(core.ApprovalDecided, "x"),
			Bad(core.Errorf(core.Invalid, "x")),
		},
		ExitUsage: {
			core.Errorf(core.Invalid, "x"), core.Errorf(core.StoreNewer, "x"), core.Errorf(core.StoreUnreadable, "x"),
			core.Errorf(core.ProviderAuthentication, "x"), core.Errorf(core.Unauthorized, "x"),
		},
		ExitNotFound: {core.Errorf(core.NotFound, "x"), Bad(core.Errorf(core.NotFound, "x"))},
	} {
		for _, err := range errs {
			if got := ExitCode(err); got != want {
				t.Errorf("%v exits with %d, want %d", err, got, want)
			}
		}
	}
}
