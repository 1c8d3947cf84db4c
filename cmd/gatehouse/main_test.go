package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// quickExit is the value of GORACE with which a process under the race detector does not sleep for a second when it
// ends.
const quickExit = "atexit_sleep_ms=50"

func TestMain(m *testing.M) {
	time.Local = time.UTC // the terminal shows local times
	// unless -parallel is given: most tests wait most of the time, so more of them can run than there are cores
	_ = flag.Set("test.parallel", "10")
	debug.SetGCPercent(400)       // faster, and the heap is small
	debug.SetMemoryLimit(1 << 30) // but with the race detector each byte of it takes several more
	if os.Getenv("GATEHOUSE_RATE") == "" {
		_ = os.Setenv("GATEHOUSE_RATE", "0") // the tests' few people send much
	}
	testscript.Main(suite{m}, programs)
}

// programs are what the tests' binary is under other names.
var programs = map[string]func(){"gatehouse": main}

// suite is all tests, and the end of what they share.
type suite struct{ *testing.M }

func (s suite) Run() int {
	code := s.M.Run()
	for what, drop := range map[string]func() error{"template": dropEmptyPostgres, "program": dropReleased} {
		if drop == nil {
			continue
		}
		if err := drop(); err != nil {
			fmt.Fprintf(os.Stderr, "dropping the tests' %s: %v\n", what, err)
			code = max(code, 1)
		}
	}
	return code
}

// TestCommands runs the scripts of testdata. They have these commands in addition to testscript's own: exits CODE
// gatehouse ARG… runs a command that must end with that exit code; landed SCHEMA puts a file of an earlier schema in
// the place of sqlite:gatehouse.db; seed fills sqlite:gatehouse.db with one record of
// each kind; undeliver turns its posts into dead letters; tamper changes an entry of its audit log; prove puts the
// proof of the approval ap-1 into $PROOF and the published keys into the file keys.json, made with GATEHOUSE_SECRET_KEY
// if that is set.
func TestCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("TZ", "UTC")
			e.Setenv("GATEHOUSE_LOG_FORMAT", "text")
			e.Setenv("GORACE", quickExit)
			return startedAs(e)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"take":  take,
			"undeliver": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(undeliver(ts.MkAbs("gatehouse.db")))
			},
			"landed": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(landedFile(args[0], ts.MkAbs("gatehouse.db")))
			},
			"seed":  func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(seed(ts.MkAbs("gatehouse.db"))) },
			"prove": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Check(prove(ts)) },
			"tamper": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Check(tamper(ts.MkAbs("gatehouse.db")))
			},
		},
	})
}

// take sets a variable to what a pattern's group matches in what the last command has printed: take NAME PATTERN.
func take(ts *testscript.TestScript, _ bool, args []string) {
	found := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if found == nil {
		ts.Fatalf("%q is not in the output", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// startedAs makes the command gatehouse that of programKey, if there is one: its name is what makes a test binary run
// it.
func startedAs(e *testscript.Env) error {
	program := os.Getenv(programKey)
	if program == "" {
		return nil
	}
	folder := filepath.Join(e.WorkDir, ".bin")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	e.Setenv("PATH", folder+string(filepath.ListSeparator)+e.Getenv("PATH"))
	return os.Symlink(program, filepath.Join(folder, "gatehouse"))
}

// noErr ends a test on an error of a step that the test is not about.
func noErr(t interface {
	Helper()
	Fatal(args ...any)
}, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
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
