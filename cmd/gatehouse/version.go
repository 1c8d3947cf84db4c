package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"gatehouse/cmd/gatehouse/internal/cli"
)

type versionCmd struct{ cli.JSONFlag }

// Run prints the version.
func (c versionCmd) Run(_ context.Context, a *cli.App) error {
	if c.JSON {
		version, revision := build()
		return a.PrintJSON(
			map[string]string{
				"version": version, "revision": revision, "go": runtime.Version(),
				"platform": runtime.GOOS + "/" + runtime.GOARCH,
			})
	}
	a.PrintLine("%s", versionLine())
	return nil
}

// versionLine is the version, the revision, and what the program was built with and for.
func versionLine() string {
	version, revision := build()
	if revision != "" {
		revision = " (" + revision + ")"
	}
	return fmt.Sprintf("gatehouse %s%s, %s, %s/%s", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
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
