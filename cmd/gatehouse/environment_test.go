package main

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"sync"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core/agent"
	"gatehouse/storage"
)

// environment is held by whoever reads or changes what all tests of this process share: its environment, openStore and newModel.
var environment sync.Mutex

// overrides are what a test runs the program with, in this process. The program reads all of it before it says that it serves, so
// tests with settings of their own run beside each other.
type overrides struct {
	env   map[string]string
	store func(ctx context.Context, url string, log *slog.Logger) (*storage.Store, error) // in place of openStore, unless nil
	model func() agent.Model                                                              // in place of newModel, unless nil
}

// storeClock opens stores with another clock.
func storeClock(now func() time.Time) func(context.Context, string, *slog.Logger) (*storage.Store, error) {
	return func(ctx context.Context, url string, log *slog.Logger) (*storage.Store, error) {
		return storage.Open(ctx, url, storage.Options{NewID: cli.NewID, Log: log, Now: now})
	}
}

// during calls do while they are in place.
func (s overrides) during(do func()) {
	environment.Lock()
	defer environment.Unlock()
	for key, value := range s.env {
		was, set := os.LookupEnv(key)
		_ = os.Setenv(key, value)
		defer func() {
			if _ = os.Unsetenv(key); set {
				_ = os.Setenv(key, was)
			}
		}()
	}
	store, model := openStore, newModel
	defer func() { openStore, newModel = store, model }()
	if s.store != nil {
		openStore = s.store
	}
	if s.model != nil {
		newModel = s.model
	}
	do()
}

// set adds variables.
func (s *overrides) set(env map[string]string) {
	if s.env == nil {
		s.env = map[string]string{}
	}
	maps.Copy(s.env, env)
}

// inherited is this process's environment, for a process that is started from it.
func inherited() []string {
	environment.Lock()
	defer environment.Unlock()
	return os.Environ()
}
