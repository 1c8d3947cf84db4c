package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"

	"gatehouse/core"
	"gatehouse/storage"
)

// openStore opens the configured database. A variable, so that tests can put a store of their own in.
var openStore = func(ctx context.Context, url string, log *slog.Logger) (core.Store, error) {
	return storage.Open(ctx, url, storage.Options{NewID: newID, Log: log})
}

// noDatabase says where a database was looked for: a file by its whole path, for whoever is in the wrong folder.
func noDatabase(url string) error {
	place := mask("url", url)
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		place = strings.TrimPrefix(file, "//")
		if whole, err := filepath.Abs(place); err == nil {
			place = whole
		}
	}
	return core.Errorf(core.NotFound, "There is no gatehouse database at %s; set GATEHOUSE_DATABASE_URL to the one you mean, or make it with gatehouse serve or gatehouse chat.", place)
}
