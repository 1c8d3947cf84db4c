package main

import (
	"context"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"gatehouse/approvals/proof"
	"gatehouse/core"
	"gatehouse/storage"
)

// prove is the command of that name of TestCommands.
func prove(ts *testscript.TestScript) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var o storage.Options
	if secrets := ts.Getenv("GATEHOUSE_SECRET_KEY"); secrets != "" {
		signer, err := core.NewSigner(strings.Split(secrets, ",")...)
		if err != nil {
			return err
		}
		o.Signer = signer
	}
	store, err := storage.Open(ctx, "sqlite:"+ts.MkAbs("gatehouse.db"), o)
	if err != nil {
		return err
	}
	defer store.Close()
	a, err := store.LoadApproval(ctx, "ap-1")
	if err != nil {
		return err
	}
	claims, err := proof.Of(a)
	if err != nil {
		return err
	}
	keys := proof.NewKeys(store.Signer())
	text, err := keys.Sign(claims)
	if err != nil {
		return err
	}
	ts.Setenv("PROOF", text)
	published := httptest.NewRecorder()
	keys.Handler().ServeHTTP(published, httptest.NewRequest("GET", proof.Path, nil))
	return os.WriteFile(ts.MkAbs("keys.json"), published.Body.Bytes(), 0o600)
}
