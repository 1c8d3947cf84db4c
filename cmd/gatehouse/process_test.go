package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage"
	"gatehouse/storage/storagetest/failpoints"
)

// This file starts real processes of the program: the test binary, started again, runs main. Variables in its
// environment make it kill itself with SIGKILL at a failpoint of its store, or record which failpoints it passes.
const (
	// programKey names the test binary that children run, such as one without the race detector, which starts three
	// times as fast.
	programKey = "GATEHOUSE_TEST_PROGRAM"
	// releasedKey names the program as it is released, which some children run.
	releasedKey = "GATEHOUSE_TEST_RELEASED"

	childKey  = "TEST_CHILD"       // any value: run the program
	soakKey   = "TEST_SOAK"        // the URL of a database: run its turns
	killKey   = "TEST_KILL_AT"     // a point of failpoints.All
	nthKey    = "TEST_KILL_NTH"    // which pass of the point, from 1
	fuseKey   = "TEST_KILL_FUSE"   // passes count only while this file exists; "": all do
	recordKey = "TEST_KILL_RECORD" // a file to append the points passed to
	failKey   = "TEST_FAIL_WHILE"  // a file: while it exists, the process's commits fail
	clockKey  = "TEST_CLOCK"       // a file: its content is added to the time that SQLite's store has, such as -240s
)

// releasedProgram is the file that releasedKey names, or the program, built once for all tests.
var releasedProgram = sync.OnceValues(func() (string, error) {
	if program := os.Getenv(releasedKey); program != "" {
		return program, nil
	}
	folder, err := os.MkdirTemp("", "gatehouse-released")
	if err != nil {
		return "", err
	}
	dropReleased = func() error { return os.RemoveAll(folder) }
	program := filepath.Join(folder, "gatehouse")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return program, nil
})

// dropReleased removes what releasedProgram has built; nil if it was not called.
var dropReleased func() error

// Lookups of posts in doubt come soon, since the fakes show what was posted at once, and so do tasks of a killed
// process, and another question to a model that fails.
func init() {
	retryWait = func() time.Duration { return 100 * time.Millisecond }
	taskRetry = time.Second
	lookups = []time.Duration{500 * time.Millisecond, time.Second, 1500 * time.Millisecond, 2 * time.Second}
}

func init() {
	if url := os.Getenv(soakKey); url != "" {
		if err := soakChild(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if url := os.Getenv(votersChild); url != "" {
		if err := runVoters(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(childKey) == "" {
		return
	}
	inner := openStore
	openStore = func(ctx context.Context, url string, o storage.Options) (*storage.Store, error) {
		o.Now = steppedClock()
		s, err := inner(ctx, url, o)
		if err != nil {
			return nil, err
		}
		return failpoints.Wrap(failing(s), failpoint()), nil
	}
	main()
	os.Exit(0)
}

// steppedClock is the clock of a process whose file clockKey may set it forward or back.
func steppedClock() func() time.Time {
	file := os.Getenv(clockKey)
	if file == "" {
		return nil
	}
	return func() time.Time {
		step, _ := os.ReadFile(file)
		by, _ := time.ParseDuration(string(step))
		return time.Now().Add(by)
	}
}

// failing is a store whose commits fail while a file exists, as on a disk that takes no writes.
func failing(s *storage.Store) *storage.Store {
	file := os.Getenv(failKey)
	if file == "" {
		return s
	}
	return s.WithEngine(func(e storage.Engine) storage.Engine { return fullDisk{e, file} })
}

// fullDisk is an engine whose commits fail while a file exists.
type fullDisk struct {
	storage.Engine
	file string
}

func (e fullDisk) Write(ctx context.Context, work storage.Work) error {
	if _, err := os.Stat(e.file); err == nil {
		return core.Errorf(core.StoreUnreadable, "The disk takes no writes.")
	}
	return e.Engine.Write(ctx, work)
}

func failpoint() func(string) {
	at, fuse := os.Getenv(killKey), os.Getenv(fuseKey)
	nth, _ := strconv.Atoi(os.Getenv(nthKey))
	record := io.Discard
	if name := os.Getenv(recordKey); name != "" {
		f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			panic(err)
		}
		record = f
	}
	var mu sync.Mutex
	return func(point string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(record, point)
		if point != at {
			return
		}
		if _, err := os.Stat(fuse); fuse != "" && err != nil {
			return
		}
		if nth--; nth <= 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal arrives
		}
	}
}

// child is a gatehouse process that a test started.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *transcript
	done chan struct{} // closed when it has ended
}

// transcript is what a child printed, readable while it runs.
type transcript struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *transcript) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// workbench is a folder with a database, the processes on it, and the test's own view of the database.
type workbench struct {
	t            *testing.T
	url          string
	env          []string
	store        *storage.Store
	conversation core.ConversationID // the conversation whose notes are read; "" = the console's
	attr         *syscall.SysProcAttr
	tty          *os.File // the terminal that the processes run at; nil: they have pipes
	log          *os.File // their standard error, at a terminal; nil: the terminal
	program      string   // the file that the processes run; "" = that of programKey, or the test binary

	asks   string                // what the scenario of an approval asks for; "" = a note
	holds  func(point string)    // what must hold at its end; nil: wantOneNote
	latest atomic.Pointer[child] // the process that was started last
}

// newWorkbench makes a workbench on SQLite; env is added to the environment of its processes.
func newWorkbench(t *testing.T, env ...string) *workbench {
	t.Helper()
	return sqliteFile.workbench(t, env...)
}

// start runs gatehouse with these arguments; env adds to the workbench's.
func (w *workbench) start(env []string, args ...string) *child {
	w.t.Helper()
	c := &child{
		cmd: exec.Command(cmp.Or(w.program, os.Getenv(programKey), os.Args[0]), args...), out: &transcript{},
		done: make(chan struct{}),
	}
	c.cmd.Env = append(inherited(), childKey+"=1", "GATEHOUSE_DATABASE_URL="+w.url,
		"GORACE=halt_on_error=1 atexit_sleep_ms=0", "GOGC=400")
	c.cmd.Env = append(append(c.cmd.Env, w.env...), env...)
	c.cmd.Stdout, c.cmd.Stderr, c.cmd.SysProcAttr = c.out, c.out, w.attr
	var err error
	if w.tty != nil {
		c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = w.tty, w.tty, cmp.Or(w.log, w.tty)
	} else if c.in, err = c.cmd.StdinPipe(); err != nil {
		w.t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.latest.Store(c)
	go func() { _ = c.cmd.Wait(); close(c.done) }()
	w.t.Cleanup(c.kill)
	return c
}

// kill kills the child with SIGKILL and waits for its end.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.done
}

// gone reports whether the child has ended.
func (c *child) gone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// typeLine writes a line to the standard input.
func (c *child) typeLine(line string) { _, _ = io.WriteString(c.in, line+"\n") }

// quit closes the standard input and waits for the end of the process.
func (c *child) quit(t *testing.T) {
	t.Helper()
	_ = c.in.Close()
	select {
	case <-c.done:
	case <-time.After(patience):
		t.Fatalf("the child did not end:\n%s", c.out)
	}
}

// ok closes the standard input, waits for the end of the process, and fails unless the exit code is 0.
func (c *child) ok(t *testing.T) {
	t.Helper()
	c.quit(t)
	if code := c.cmd.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, c.out)
	}
}

// patience is how long a test waits for something that normally takes milliseconds.
const patience = 3 * time.Minute

// wide returns all if the tests are to be as wide as .ci/nightly has them, else enough of it for each change.
func wide[T any](all, enough T) T {
	if os.Getenv("GATEHOUSE_TEST_WIDE") != "" {
		return all
	}
	return enough
}

// slowMachine is how long the fakes wait for an answer that Slack and Discord want within 3 s, in tests that are not
// about this limit.
const slowMachine = 30 * time.Second

// until polls until a condition holds.
func (w *workbench) until(what string, c *child, true_ func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !true_(); {
		if time.Now().After(deadline) {
			printed := ""
			if c != nil {
				printed = c.out.String()
			}
			events, _ := w.store.Events(w.t.Context(), core.EventFilter{})
			w.t.Fatalf("%s did not happen; events %+v; printed:\n%s", what, events, printed)
		}
		timer := time.NewTimer(20 * time.Millisecond)
		<-timer.C
	}
}

func (w *workbench) approvals(states ...core.ApprovalState) []core.Approval {
	w.t.Helper()
	found, err := w.store.ListApprovals(w.t.Context(), core.ApprovalFilter{States: states})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

func (w *workbench) events(f core.EventFilter) []core.EventRecord {
	w.t.Helper()
	found, err := w.store.Events(w.t.Context(), f)
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// settled reports whether no event and no post is waiting. The events are read first, because the end of an event may
// add a post.
func (w *workbench) settled() bool {
	w.t.Helper()
	if len(w.events(core.EventFilter{Waiting: true, Limit: 1})) > 0 {
		return false
	}
	posts, err := w.store.ListPosts(w.t.Context(), []core.RowState{core.RowWaiting}, "", 1)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(posts) == 0
}

// replies returns the texts of the replies to an event, oldest first.
func (w *workbench) replies(event int64) []string {
	w.t.Helper()
	rows, err := w.store.ListPosts(w.t.Context(), nil, "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var texts []string
	for _, r := range rows {
		if r.Event == event && r.Kind == core.PostReply {
			texts = append([]string{r.Text}, texts...)
		}
	}
	return texts
}

func (w *workbench) notes() []string {
	w.t.Helper()
	notes, err := w.store.Notes(w.t.Context(), string(cmp.Or(w.conversation, "console:default")))
	if err != nil {
		w.t.Fatal(err)
	}
	return notes
}

func lines(s string) []string { return strings.FieldsFunc(s, func(r rune) bool { return r == '\n' }) }
