package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/metrics"
	"gatehouse/cmd/gatehouse/internal/move"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/storage"
)

// A database that goes away between its opening and the registration of the process is waited for, too.
func TestServeWaitsForARegistration(t *testing.T) {
	tries := 0
	a := &cli.App{OpenStore: func(ctx context.Context, url string, o storage.Options) (*storage.Store, error) {
		s, err := storage.Open(ctx, url, o)
		if err != nil {
			return nil, err
		}
		return s.WithEngine(func(e storage.Engine) storage.Engine { return away{e, &tries} }), nil
	}}
	log := cli.NewLogger(&transcript{}, 0, "text")
	cfg := settings.Config{DatabaseURL: "sqlite:" + filepath.Join(t.TempDir(), "g.db"), Heartbeat: time.Second}
	store, owner, err := waitForStore(t.Context(), a, cfg, move.Anyway{}, metrics.New("test"), log)
	if err != nil || store == nil || owner == "" || tries != 2 {
		t.Errorf("after %d tries the owner is %q, %v", tries, owner, err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// away is an engine that can't be reached when a process first registers.
type away struct {
	storage.Engine
	tries *int
}

func (e away) Register(instance string, free func(string) error) (string, error) {
	if *e.tries++; *e.tries == 1 {
		return "", core.Errorf(core.StoreBusy, "The database is away.")
	}
	return e.Engine.Register(instance, free)
}

// serve waits for a server that can't be reached, and ends in good order when it is told to. The message says who
// waits.
func TestServeWaitsUntilToldToStop(t *testing.T) {
	t.Parallel()
	w := newWorkbench(t, "SLACK_BOT_TOKEN=xoxb-1", "SLACK_SIGNING_SECRET=8f742231b10e8888abcd99yyyzzz85a5",
		"GATEHOUSE_LOG_FORMAT=text")
	w.url = "postgres://u:p@127.0.0.1:1/db"
	c := w.start(nil, "serve")
	said := fmt.Sprintf("msg=%q wait=500ms", "waiting for the database; trying again")
	w.until("waiting", c, func() bool { return c.gone() || strings.Contains(c.out.String(), said) })
	noErr(t, c.cmd.Process.Signal(syscall.SIGTERM))
	c.ok(t)
	if out := c.out.String(); !strings.Contains(out,
		"gatehouse serve continues by itself once it is back, other commands must be run again") ||
		!strings.Contains(out, "nobody may approve") {
		t.Errorf("it prints %s", out)
	}
}
