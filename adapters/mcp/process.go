package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/internal/procgroup"
	"gatehouse/adapters/mcp/internal/gate"
)

// inherited are the variables that a server's process has of gatehouse's. None holds a secret.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT",
	"APPDATA", "PATHEXT", "TEMP",
}

// environment is what a server's process gets.
func environment(s Server, environ []string) []string {
	var env []string
	for _, v := range environ {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(inherited, name) {
			env = append(env, v)
		}
	}
	for name, value := range s.Env { // the last value of a variable counts
		env = append(env, name+"="+value)
	}
	return env
}

// process is a server that gatehouse starts.
type process struct {
	cmd    *exec.Cmd
	gate   *gate.Gate
	in     *stdin
	out    *os.File
	errors *stderr
	exited chan struct{} // closed when the process has ended, and its group was killed
	state  error         // how it ended; read after exited
	conn   sdk.Connection
}

// How long a process may take to end after its standard input was closed, and then after it was told to.
const exitTimeout = 2 * time.Second

// start starts a server's process, in a group of its own.
func start(s Server, environ []string, g *gate.Gate, said *stderr) (*process, error) {
	p := &process{cmd: exec.Command(s.Command, s.Args...), gate: g, errors: said, exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = s.Dir, environment(s, environ)
	procgroup.Own(p.cmd)
	var theirs [3]*os.File
	var errs [3]error
	var in, err *os.File
	theirs[0], in, errs[0] = os.Pipe()
	p.out, theirs[1], errs[1] = os.Pipe()
	err, theirs[2], errs[2] = os.Pipe()
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			if f != nil {
				_ = f.Close() // a pipe; nothing is buffered
			}
		}
	}
	if failed := errors.Join(errs[:]...); failed != nil {
		closeAll(append(theirs[:], in, p.out, err)...)
		return nil, failed
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	failed := procgroup.Start(p.cmd)
	closeAll(theirs[:]...)
	if failed != nil {
		closeAll(in, p.out, err)
		return nil, failed
	}
	p.in = &stdin{file: in}
	go p.wait(err)
	return p, nil
}

// wait waits until the process ends, ends what is left of its group, and reads what it said last.
func (p *process) wait(err *os.File) {
	var reading sync.WaitGroup
	reading.Go(func() { p.errors.copy(err) })
	p.state = procgroup.Wait(p.cmd)
	procgroup.Kill(p.cmd)
	soon := time.Now().Add(exitTimeout / 2) // somebody who left the group may still hold the other ends
	_ = p.out.SetReadDeadline(soon)         // a pipe has deadlines
	_ = err.SetReadDeadline(soon)
	reading.Wait()
	_ = err.Close()
	close(p.exited)
	_ = p.gate.Fail(errEnded)
}

// errEnded is the cause where a process ended by itself.
var errEnded = errors.New("its process ended")

// Connect makes the SDK's connection.
func (p *process) Connect(ctx context.Context) (conn sdk.Connection, err error) {
	t := &sdk.IOTransport{Reader: gate.Lines(p.out, p.gate), Writer: p.in, MaxLineLength: gate.MaxMessage + 1024}
	conn, err = t.Connect(ctx)
	p.conn = noting{conn}
	return p.conn, err
}

// noting is a connection that notes on the trace of a call that it was sent.
type noting struct{ sdk.Connection }

// Write writes a message.
func (c noting) Write(ctx context.Context, msg jsonrpc.Message) error {
	if t, ok := ctx.Value(traceKey{}).(*trace); ok {
		t.sent.Store(true)
	}
	return c.Connection.Write(ctx, msg)
}

// last tells how the process ended, and the last line of its standard error. A process whose output has ended may need
// a moment to end.
func (p *process) last() string {
	var parts []string
	timer := time.NewTimer(exitTimeout / 8)
	defer timer.Stop()
	select {
	case <-p.exited:
		how := "it ended"
		if p.state != nil {
			how = fmt.Sprintf("it ended with %v", p.state)
		}
		parts = append(parts, how)
	case <-timer.C:
	}
	if said := p.errors.last(); said != "" {
		parts = append(parts, "it said last: "+said)
	}
	return strings.Join(parts, "; ")
}

// close ends the process: politely by the end of its input, then by a signal, then by force.
func (p *process) close() {
	_ = p.in.Close()
	select {
	case <-p.exited:
	case <-time.After(exitTimeout):
		procgroup.End(p.cmd, exitTimeout)
		<-p.exited
	}
	if p.conn != nil {
		_ = p.conn.Close()
	}
	_ = p.out.Close()
}

// stdin is a process's standard input. A process that does not read it for too long loses it.
type stdin struct {
	file *os.File
	once sync.Once
	err  error
}

// errUnwritten is the error of a message of which nothing was written.
var errUnwritten = errors.New("the process does not read")

// Write writes all of b, in some time.
func (w *stdin) Write(b []byte) (int, error) {
	_ = w.file.SetWriteDeadline(time.Now().Add(answerTimeout)) // a pipe has deadlines
	n, err := w.file.Write(b)
	if err != nil {
		_ = w.Close()
		if n == 0 {
			err = fmt.Errorf("%w: %w", errUnwritten, err)
		}
	}
	return n, err
}

// Close closes the standard input.
func (w *stdin) Close() error {
	w.once.Do(func() { w.err = w.file.Close() })
	return w.err
}
