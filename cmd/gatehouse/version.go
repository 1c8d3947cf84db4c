package main

import (
	"context"
	"runtime"
	"runtime/debug"
)

type versionCmd struct{ asJSON }

// Run prints what the build says of itself.
func (c versionCmd) Run(_ context.Context, a *app) error {
	version, revision := build()
	if c.JSON {
		return a.json(map[string]string{"version": version, "revision": revision, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH})
	}
	if revision != "" {
		revision = " (" + revision + ")"
	}
	a.say("gatehouse %s%s, %s, %s/%s", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// build gives what the build says of itself; "" is a revision that it does not know.
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
