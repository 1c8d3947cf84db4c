package main

import (
	"cmp"
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

// Set by the linker where the build has no repository, as that of the image; "": Go recorded them.
var stampedVersion, stampedRevision string

// build returns the version and the revision of the binary; revision is "" if there is none.
func build() (version, revision string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			revision = s.Value
		}
	}
	return cmp.Or(stampedVersion, info.Main.Version, "unknown"), cmp.Or(stampedRevision, revision)
}
