package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "10") // unless -parallel is given: most tests wait most of the time, so more of them can run than there are cores
	debug.SetGCPercent(400)             // faster, and the heap is small
	if os.Getenv("GATEHOUSE_RATE") == "" {
		_ = os.Setenv("GATEHOUSE_RATE", "0") // the tests' few people send much
	}
	testscript.Main(m, map[string]func(){"gatehouse": main})
}

// TestCommands runs the scripts of testdata. They have these commands in addition to testscript's own: exits CODE gatehouse ARG… runs a
// command that must end with that exit code; seed fills sqlite:gatehouse.db with one record of each kind; undeliver turns its posts into
// dead letters; tamper changes an entry of its audit log.
func TestCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TZ", "UTC")
			e.Setenv("GATEHOUSE_LOG_FORMAT", "text")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"undeliver": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(undeliver(ts.MkAbs("gatehouse.db"))) },
			"seed":      func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(seed(ts.MkAbs("gatehouse.db"))) },
			"tamper":    func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(tamper(ts.MkAbs("gatehouse.db"))) },
		},
	})
}

func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var e *exec.ExitError
		if !errors.As(err, &e) {
			ts.Fatalf("%v", err)
		}
		got = e.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}
