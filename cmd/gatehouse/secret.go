package main

import (
	"context"
	"crypto/rand"
	"strings"

	"gatehouse/core"
)

// secretKeys reads GATEHOUSE_SECRET_KEY: keys with commas between them, newest first.
func secretKeys(list string) []string {
	var keys []string
	for _, key := range strings.Split(list, ",") {
		if key = strings.TrimSpace(key); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// newSigner signs with the configured keys or, where there are none, with one that was made once and is kept in the database, so that
// all processes on it have the same.
func newSigner(ctx context.Context, cfg Config, store core.Store) (*core.Signer, error) {
	if keys := secretKeys(cfg.SecretKey); len(keys) > 0 {
		return core.NewSigner(keys...)
	}
	key, err := store.PutIfAbsent(ctx, "secret-key", rand.Text())
	if err != nil {
		return nil, err
	}
	return core.NewSigner(key)
}
