package main

import (
	"context"
	"log/slog"

	"gatehouse/core"
	"gatehouse/storage"
)

// openStore opens the configured database. A variable, so that tests can put a store of their own in.
var openStore = func(ctx context.Context, url string, log *slog.Logger) (core.Store, error) {
	return storage.Open(ctx, url, storage.Options{NewID: newID, Log: log})
}
