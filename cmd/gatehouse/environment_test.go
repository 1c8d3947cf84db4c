package main

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core/agent"
	"gatehouse/storage"
)

// environment guards what all tests of this process share: its environment variables, openStore and newModel.
var environment sync.Mutex

// source is the program's.
var source = settings.Source{Platforms: platforms, Vendors: modelVendors}

// overrides are the settings with which a test runs the program in this process. The program reads them before it logs
// that it is serving, so tests with different overrides can run in parallel.
type overrides struct {
	env   map[string]string
	store cli.OpenStore      // replaces openStore, unless nil
	model func() agent.Model // replaces newModel, unless nil
}

// storeClock returns a replacement of openStore that opens stores with another clock.
func storeClock(now func() time.Time) cli.OpenStore {
	return func(ctx context.Context, url string, o storage.Options) (*storage.Store, error) {
		o.Now = now
		return storage.Open(ctx, url, o)
	}
}

// during calls do with the overrides in place.
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

// set adds environment variables.
func (s *overrides) set(env map[string]string) {
	if s.env == nil {
		s.env = map[string]string{}
	}
	maps.Copy(s.env, env)
}

// inherited returns the environment for a process that a test starts. It is a copy, because os.Environ's result has
// room for every variable that was ever set, and tests set and unset thousands.
func inherited() []string {
	environment.Lock()
	defer environment.Unlock()
	return slices.Clone(os.Environ())
}
