package cli

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestLoggedDurationsHaveAUnit(t *testing.T) {
	for _, format := range []string{"json", "text"} {
		var out bytes.Buffer
		NewLogger(&out, slog.LevelInfo, format).Info("turn ended", "took", 1500*time.Millisecond)
		if !strings.Contains(out.String(), "1.5s") {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}
