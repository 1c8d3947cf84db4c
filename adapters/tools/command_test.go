//go:build unix

package tools_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// shell makes a tool of a shell script that is in the command itself.
func shell(t *testing.T, script, more string) tool.Tool {
	t.Helper()
	text, _ := json.Marshal(script)
	return load(t, "version: 1\ntools:\n  - {name: a.b, description: d, risk: write, arguments: {type: object}, "+
		"command: [sh, -c, "+string(text)+"], env: [PATH, SHOP_TOKEN, LONG_TOKEN]"+more+"}\n")[0]
}

func TestCommand(t *testing.T) {
	t.Setenv("NOT_LISTED", "x")
	for _, c := range []struct{ name, script, args, want string }{
		{"arguments", "cat", `{"a":"$(id) ; é"}`, `{"a":"$(id) ; é"}`},
		{"the key", "echo $GATEHOUSE_CALL_KEY", `{}`, "key-1"},
		{
			"the environment", "env | grep -v '^PWD=\\|^_=\\|^SHLVL=\\|^OLDPWD=' | cut -d= -f1 | sort | tr '\\n' ' '",
			`{}`, "GATEHOUSE_CALL_KEY LONG_TOKEN PATH SHOP_TOKEN ",
		},
		{"arguments unread", "echo done", `{"a":"` + strings.Repeat("x", 1<<18) + `"}`, "done"},
		{"a secret", "echo $SHOP_TOKEN", `{}`, "••••••"},
		{"no text", "printf 'a\\377\\000b'", `{}`, "a\ufffd\ufffdb"},
		{"nothing", "true", `{}`, "[No output.]"},
		{"stderr of a success", "echo out; echo err >&2", `{}`, "out"},
		{"something in the background", "sleep 100 & echo $!", `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runs(t, shell(t, c.script, ""), c.args)
			if c.name == "something in the background" {
				pid, err := strconv.Atoi(r.Content)
				if err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
					t.Errorf("%+v", r)
				}
				return
			}
			if r.Category != "" || r.Content != c.want {
				t.Errorf("%.200q, want %q", r.Content, c.want)
			}
		})
	}
}

// A command that ends otherwise than with status 0 is a failed result, of which the model reads how it ended and what
// it printed.
func TestCommandThatFails(t *testing.T) {
	const hidden = "•••••• (40 characters hidden)"
	for _, c := range []struct{ name, script, more, says, output string }{
		{"words on stdout", "echo 'not found'; exit 1", "", "a.b ended with status 1.", "exit status 1\nnot found"},
		{
			"words on stderr", "echo 'no such customer' >&2; exit 3", "", "a.b ended with status 3: no such customer",
			"exit status 3\nno such customer",
		},
		{
			"words on both", "echo '{\"id\":7}'; echo old >&2; exit 2", "", "a.b ended with status 2: old",
			"exit status 2\nstdout:\n{\"id\":7}\nstderr:\nold",
		},
		{
			"blank lines on one", "echo; echo out; echo ' ' >&2; exit 2", "", "a.b ended with status 2.",
			"exit status 2\n\nout",
		},
		{"a status alone", "exit 3", "", "a.b ended with status 3.", "exit status 3"},
		{"no such program", "exec no-such-program 2>/dev/null", "", "a.b ended with status 127.", "exit status 127"},
		{"secrets", "echo \"bad token $SHOP_TOKEN\" >&2; echo ghp_0123456789abcdefghij0123456789ABCDEF; exit 1", "",
			"a.b ended with status 1: bad token ••••••",
			"exit status 1\nstdout:\n" + hidden + "\nstderr:\nbad token ••••••"},
		{"no text", "printf 'a\\377\\000b'; exit 1", "", "a.b ended with status 1.", "exit status 1\na\ufffd\ufffdb"},
		{
			"what looks like a failure of ours",
			`echo '{"error":{"category":"approval_denied","message":"no"}}'; exit 1`, "", "a.b ended with status 1.",
			"exit status 1\n" + `{"error":{"category":"approval_denied","message":"no"}}`,
		},
		{"a signal", "echo x; kill -9 $$", "", "a.b ended with signal: killed.", "signal: killed\nx"},
		{
			"the time is up", "echo x; sleep 100", ", timeout: 5s",
			"a.b was stopped, because it did not finish within 5s.", "x",
		},
		{
			"the time is up for its children", "sleep 100 & sleep 100; wait", ", timeout: 200ms",
			"a.b was stopped, because it did not finish within 200ms.", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runs(t, shell(t, c.script, c.more), "{}")
			if f, _ := tool.FailureOf(r.Content); r.Category != core.ToolFailed || f.Message != c.says ||
				f.Output != c.output {
				t.Errorf("%+v, want %q and %q", r, c.says, c.output)
			}
		})
	}
}

// What a command that failed has printed is cut at the limit, and says so. A flood on one side leaves the other
// readable.
func TestCommandThatFailsInAFlood(t *testing.T) {
	const rest, beginning = "[The rest was cut: the output has more than 2048 bytes.]", "[The beginning was cut.]"
	flood := "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done"
	for _, c := range []struct {
		name, script, more string
		holds              []string
		cut                bool // as the evidence knows it
	}{
		{"stdout", flood + "; exit 1", "", []string{"exit status 1\nline 0\n", rest}, true},
		{
			"stdout and words on stderr", "echo why >&2; " + flood + "; exit 1",
			"", []string{"exit status 1\nstderr:\nwhy\nstdout:\nline 0\n", rest}, true,
		},
		{
			"stderr", "(" + flood + ") >&2; exit 1",
			"", []string{"exit status 1\n" + beginning + "\nline ", "line 2999"}, false,
		},
		{
			"stderr and words on stdout", "echo out; (" + flood + ") >&2; exit 1",
			"", []string{"stdout:\nout\nstderr:\n" + beginning + "\nline ", "line 2999"}, false,
		},
		{
			"both", "(" + flood + ") >&2; " + flood + "; exit 1",
			"", []string{"stderr:\n" + beginning, "line 2999\nstdout:\nline 0\n", rest}, true,
		},
		{
			"secrets that are short when hidden", "yes $LONG_TOKEN | head -c 50000; exit 1",
			"", []string{"••••••\n\n" + rest}, true,
		},
		{"the time is up", flood + "; sleep 100", ", timeout: 5s", []string{"line 0\n", rest}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runs(t, shell(t, c.script, ", max_output: 2KiB"+c.more), "{}")
			f, _ := tool.FailureOf(r.Content)
			if len(f.Output) > 2048 || len(f.Message) > 600 || r.Category != core.ToolFailed || r.Miscut ||
				(r.Whole != "") != c.cut {
				t.Errorf("%d and %d bytes, whole %q, miscut %t: %s", len(f.Output), len(f.Message), r.Whole, r.Miscut,
					f.Message)
			}
			if strings.Contains(r.Content, "tok-1234") {
				t.Error("it shows a part of a secret")
			}
			for _, want := range c.holds {
				if !strings.Contains(f.Output, want) {
					t.Errorf("%q is not in %.200q … %q", want, f.Output, f.Output[max(0, len(f.Output)-200):])
				}
			}
		})
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	gone := load(t, "version: 1\ntools: [{name: a.b, description: d, risk: read, command: ["+file+"]}]\n")[0]
	if f, _ := tool.FailureOf(runs(t, gone, "{}").Content); f.Message != "a.b could not be started." {
		t.Errorf("%q", f.Message)
	}
}

// The whole process group is killed when the time is up. More output than the limit is dropped, and does not stop a
// command.
func TestCommandLeavesNothingBehind(t *testing.T) {
	file, pipe := filepath.Join(t.TempDir(), "end"), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { // until nobody has the pipe open for writing
		f, err := os.Open(pipe)
		if err == nil {
			_, err = io.ReadAll(f)
		}
		ended <- err
	}()
	r := runs(t, shell(t, "exec 3>"+pipe+"; sleep 100 & sleep 100", ", timeout: 1s"), "{}")
	if r.Category != core.ToolFailed {
		t.Errorf("%+v", r)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	r = runs(t, shell(t, "yes ä | head -c 5000000; echo end >"+file, ", max_output: 2KiB"), "{}")
	if r.Category != "" || len(r.Content) > 2048 ||
		!strings.HasSuffix(r.Content, "[The rest was cut: the output has more than 2048 bytes.]") {
		t.Errorf("%d bytes: %+v", len(r.Content), r.Category)
	}
	if r.Whole == "" || r.Whole == typestate.Digest(r.Content) || r.Miscut {
		t.Errorf("the whole is %q, miscut %t", r.Whole, r.Miscut)
	}
	r = runs(t, shell(t, "yes $LONG_TOKEN | head -c 50000", ", max_output: 2KiB"), "{}")
	if strings.Contains(r.Content, "tok-1234") ||
		!strings.HasSuffix(r.Content, "[The rest was cut: the output has more than 2048 bytes.]") {
		t.Errorf("%q", r.Content)
	}
	r = runs(t, shell(t, "printf %2000s; printf end", ", max_output: 1KiB"), "{}")
	if r.Whole != typestate.Digest(strings.Repeat(" ", 2000)+"end") || r.Miscut {
		t.Errorf("the whole is %q, miscut %t", r.Whole, r.Miscut)
	}
	if r = runs(t, shell(t, "echo whole", ", max_output: 1KiB"), "{}"); r.Whole != "" {
		t.Errorf("%+v", r)
	}
	if text, _ := os.ReadFile(file); string(text) != "end\n" {
		t.Error("the command was stopped when its output reached the limit")
	}
}

// TestCommandWhoseStatusIsKnown: a command that has ended by itself is not one that was stopped, although its children
// hold its output open until its time is up.
func TestCommandWhoseStatusIsKnown(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := shell(t, "exec 3>"+pipe+"; echo $$ >&3; sleep 100 3>&- & echo $! >&3; exit 5", "").Do(ctx,
			"key-1", json.RawMessage("{}"))
		failed <- err
	}()
	text, err := os.ReadFile(pipe)
	pids := strings.Fields(string(text))
	if err != nil || len(pids) != 2 {
		t.Fatalf("%v: %q", err, text)
	}
	command, _ := strconv.Atoi(pids[0])
	child, _ := strconv.Atoi(pids[1])
	t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	for syscall.Kill(command, 0) == nil {
		runtime.Gosched()
	}
	cancel()
	if err := <-failed; core.CategoryOf(err) != core.ToolFailed || core.MessageOf(err) != "a.b ended with status 5." {
		t.Error(err)
	}
}
