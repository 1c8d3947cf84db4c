package cli

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress is drawn from the first second on, and wiped at the end.
func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		of   int64
		took time.Duration
		want string
	}{
		"short":     {100, 900 * time.Millisecond, ""},
		"long":      {100, 2100 * time.Millisecond, "Checking ██████░░░░░░░░░░░░░░░░░░ 25 %, 2 s\r\x1b[K"},
		"of nobody": {0, 2100 * time.Millisecond, "Checking… 2 s\r\x1b[K"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := &Progress{out: &out, what: "Checking", of: c.of, stop: make(chan struct{})}
				p.Done(25)
				p.end.Go(p.draw)
				time.Sleep(c.took)
				p.End()
				if got := out.String(); (c.want == "") != (got == "") || !strings.HasSuffix(got, c.want) {
					t.Errorf("it draws %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestNobodyIsAskedOrShownWithoutATerminal.
func TestNobodyIsAskedOrShownWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	a := App{Stdio: Stdio{In: strings.NewReader("n\n"), Out: &out, Err: &out}}
	if err := a.Ask(t.Context(), YesFlag{}, "Really?"); err != nil {
		t.Error(err)
	}
	p := a.Progress(JSONFlag{}, "Checking", 0)
	p.Done(1)
	p.End()
	if p.out != nil || out.Len() > 0 {
		t.Errorf("it prints %q", out.String())
	}
}
