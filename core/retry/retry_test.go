package retry_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/retry"
)

func TestAnErrorIsLoggedOnce(t *testing.T) {
	var b bytes.Buffer
	trouble := retry.NewLog(slog.New(slog.NewTextHandler(&b, nil)), "looking")
	full, busy := core.Errorf(core.StoreFull, "full"), core.Errorf(core.StoreBusy, "busy")
	for _, err := range []error{nil, full, full, busy, busy, nil, nil, errors.New("x")} {
		trouble.Report(err)
	}
	var told []string
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		for _, word := range []string{"store_full", "store_busy", "works again", "internal"} {
			if strings.Contains(line, word) {
				told = append(told, word)
			}
		}
	}
	if got := strings.Join(told, ", "); got != "store_full, store_busy, works again, internal" {
		t.Errorf("logged %s", got)
	}
}
