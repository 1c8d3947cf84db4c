//go:build unix

package tools_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// shell makes a tool of a shell script that is in the command itself.
func shell(t *testing.T, script, more string) tool.Tool {
	t.Helper()
	text, _ := json.Marshal(script)
	return load(t, "version: 1\ntools:\n  - {name: a.b, description: d, risk: write, arguments: {type: object}, command: [sh, -c, "+string(text)+"], env: [PATH, SHOP_TOKEN]"+more+"}\n")[0]
}

func TestCommand(t *testing.T) {
	t.Setenv("NOT_LISTED", "x")
	for _, c := range []struct{ name, script, args, want string }{
		{"arguments", "cat", `{"a":"$(id) ; é"}`, `{"a":"$(id) ; é"}`},
		{"the key", "echo $GATEHOUSE_CALL_KEY", `{}`, "key-1"},
		{"the environment", "env | grep -v '^PWD=\\|^_=\\|^SHLVL=\\|^OLDPWD=' | cut -d= -f1 | sort | tr '\\n' ' '", `{}`, "GATEHOUSE_CALL_KEY PATH SHOP_TOKEN "},
		{"arguments unread", "echo done", `{"a":"` + strings.Repeat("x", 1<<18) + `"}`, "done"},
		{"a secret", "echo $SHOP_TOKEN", `{}`, "••••••"},
		{"no text", "printf 'a\\377\\000b'", `{}`, "a\ufffd\ufffdb"},
		{"nothing", "true", `{}`, ""},
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

func TestCommandThatFails(t *testing.T) {
	for _, c := range []struct{ name, script, more, want string }{
		{"a status", "echo 'no such customer' >&2; exit 3", "", "a.b failed with exit status 3: no such customer"},
		{"a status alone", "exit 3", "", "a.b failed with exit status 3."},
		{"a secret", "echo \"bad token $SHOP_TOKEN, or ghp_0123456789abcdefghij0123456789ABCDEF\" >&2; exit 1", "", "a.b failed with exit status 1: bad token ••••••, or •••••• (40 characters hidden)"},
		{"a signal", "kill -9 $$", "", "a.b failed with signal: killed."},
		{"the time is up", "echo x; sleep 100", ", timeout: 200ms", "a.b was stopped, because it did not finish within 200ms."},
		{"the time is up for its children", "sleep 100 & sleep 100; wait", ", timeout: 200ms", "a.b was stopped, because it did not finish within 200ms."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runs(t, shell(t, c.script, c.more), "{}")
			if f, _ := tool.FailureOf(r.Content); r.Category != core.ToolFailed || f.Message != c.want {
				t.Errorf("%+v, want %q", r, c.want)
			}
		})
	}
	long := runs(t, shell(t, "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1", ""), "{}")
	if f, _ := tool.FailureOf(long.Content); !strings.HasSuffix(f.Message, "line 2999") || len(f.Message) > 600 {
		t.Errorf("%q", f.Message)
	}
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

// The whole process group is killed when the time is up. More output than the limit is dropped, and does not stop a command.
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
	if r.Category != "" || len(r.Content) > 2048 || !strings.HasSuffix(r.Content, "[The rest was cut: the output has more than 2048 bytes.]") {
		t.Errorf("%d bytes: %+v", len(r.Content), r.Category)
	}
	if text, _ := os.ReadFile(file); string(text) != "end\n" {
		t.Error("the command was stopped when its output reached the limit")
	}
}
