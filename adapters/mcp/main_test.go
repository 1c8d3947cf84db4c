package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/adapters/mcp"
	"gatehouse/core/tool"
)

// TestMain is also the servers that the tests start: the test's binary with a variable that names the server.
func TestMain(m *testing.M) {
	if kind := os.Getenv("TEST_SERVER"); kind != "" {
		serveAs(kind)
		return
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// serverKey names the test binary that servers run, such as one without the race detector, which starts faster.
const serverKey = "GATEHOUSE_TEST_MCP_SERVER"

// self is the path of serverKey's binary, or of this one.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return cmp.Or(os.Getenv(serverKey), path)
}

// process is the entry of a server that is this binary.
func process(t *testing.T, kind string, more ...string) mcp.Server {
	t.Helper()
	env := map[string]string{"TEST_SERVER": kind}
	for i := 0; i+1 < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return mcp.Server{Name: "files", Command: self(t), Env: env}
}

// pins are pins in memory that can fail.
type pins struct {
	mu   sync.Mutex
	kept map[string]string
	err  error
}

func (p *pins) Get(_ context.Context, name string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept[name], p.err
}

func (p *pins) Put(_ context.Context, name, value string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept == nil {
		p.kept = map[string]string{}
	}
	p.kept[name] = value
	return p.err
}

// running are servers that run during a test.
type running struct {
	*mcp.Servers
	t        *testing.T
	registry *tool.Registry
	log      *journal
}

// journal is a log that tests read, and wait for, while it is written.
type journal struct {
	mu    sync.Mutex
	text  strings.Builder
	wrote chan struct{} // closed by the next write
}

func newJournal() *journal { return &journal{wrote: make(chan struct{})} }

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	close(j.wrote)
	j.wrote = make(chan struct{})
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// await waits until the log has a text so many times.
func (r *running) await(text string, times int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for {
		r.log.mu.Lock()
		found, wrote := strings.Count(r.log.text.String(), text), r.log.wrote
		r.log.mu.Unlock()
		if found >= times {
			return
		}
		select {
		case <-wrote:
		case <-ctx.Done():
			r.t.Fatalf("%q is not in the log %d times:\n%s", text, times, r.log)
		}
	}
}

// run runs servers until the test ends, and waits until each was tried once.
func run(t *testing.T, o mcp.Options, entries ...mcp.Server) *running {
	t.Helper()
	r := &running{t: t, log: newJournal()}
	o.Config.Servers, o.Log = entries,
		slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Pins == nil {
		o.Pins = &pins{}
	}
	r.Servers = mcp.New(mcp.Quick(o))
	r.registry = tool.NewRegistry().With(r.Servers)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	waiting, stop := context.WithTimeout(ctx, 3*time.Minute)
	defer stop()
	r.Ready(waiting)
	return r
}

// get gives a tool that must be there.
func (r *running) get(name string) tool.Tool {
	r.t.Helper()
	found, ok := r.registry.Get(name)
	if !ok {
		r.t.Fatalf("there is no tool %s; the log:\n%s", name, r.log)
	}
	return found
}

// call runs a tool as the executor does once it may.
func (r *running) call(name, args string) (string, error) {
	r.t.Helper()
	return r.get(name).Do(context.Background(), "a1", json.RawMessage(args))
}

// notes is a file that a server writes to.
func notes(t *testing.T) (path string, read func() string) {
	path = filepath.Join(t.TempDir(), "notes")
	return path, func() string {
		text, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		return string(text)
	}
}
