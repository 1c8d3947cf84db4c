package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"gatehouse/cmd/gatehouse/internal/cli"
)

type versionCmd struct{ cli.JSONFlag }

// Run prints the version.
func (c versionCmd) Run(_ context.Context, a *cli.App) error {
	version, revision := build()
	if c.JSON {
		return a.PrintJSON(map[string]string{"version": version, "revision": revision, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	if revision != "" {
		revision = " (" + revision + ")"
	}
	a.PrintLine("gatehouse %s%s, %s, %s/%s", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// build returns the version and the revision that Go recorded in the binary; revision is "" if there is none.
func build() (version, revision string) {
	version = "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, ""
	}
	if info.Main.Version != "" {
		version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return version, revision
}
