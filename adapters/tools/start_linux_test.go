package tools_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/adapters/tools"
)

// killedKey names the file of tools of a process that stands for gatehouse: the test binary, started again, runs the
// file's tool again and again.
const killedKey = "TOOLS_TEST_FILE"

func init() {
	file := os.Getenv(killedKey)
	if file == "" {
		return
	}
	all, err := tools.Load(file, tools.Options{Getenv: os.LookupEnv})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for worker := range 3 {
		go func() {
			for n := 0; ; n++ {
				fmt.Println("start")
				if _, err := all[0].Do(context.Background(), fmt.Sprintf("%d-%d-%d", os.Getpid(), worker, n),
					wholeInput()); err != nil {
					fmt.Fprintln(os.Stderr, err)
				}
			}
		}()
	}
	select {}
}

// wholeInput is the arguments of these runs. They are longer than a pipe holds, so whoever writes them into one is
// often amid them.
func wholeInput() json.RawMessage {
	return json.RawMessage(`{"a":"` + strings.Repeat("x", 200_000) + `","end":true}`)
}

// killed is a process that stands for gatehouse, with its folder.
type killed struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd
	out *bufio.Scanner
}

// toKill starts such a process. Its tool is the script, which gets the folder in DIR.
func toKill(t *testing.T, dir, script string) *killed {
	t.Helper()
	text, _ := json.Marshal(script)
	file := filepath.Join(dir, "tools.yaml")
	yaml := "version: 1\ntools: [{name: a.b, description: d, risk: write, arguments: {type: object}, " +
		"command: [sh, -c, " +
		string(text) + "], env: [PATH, DIR, " + killedKey + "]}]\n"
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &killed{t: t, dir: dir, cmd: exec.Command(os.Args[0])}
	k.cmd.Env = append(os.Environ(), killedKey+"="+file, "DIR="+dir)
	k.cmd.Stderr = os.Stderr
	out, err := k.cmd.StdoutPipe()
	if err == nil {
		err = k.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	k.out = bufio.NewScanner(out)
	t.Cleanup(k.kill)
	return k
}

func (k *killed) kill() {
	_ = k.cmd.Process.Kill() // it has ended if it was killed before
	_, _ = k.cmd.Process.Wait()
}

// left are the ids of processes that have the file of tools in their environment: all that the process has started, and
// itself.
func (k *killed) left() (ids []int) {
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		k.t.Fatal(err)
	}
	mark := []byte(killedKey + "=" + filepath.Join(k.dir, "tools.yaml"))
	for _, name := range all {
		text, _ := os.ReadFile(name) // it may be gone
		if bytes.Contains(text, mark) {
			id, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			ids = append(ids, id)
		}
	}
	return ids
}

// untilNoneIsLeft waits until all processes have ended.
func (k *killed) untilNoneIsLeft() {
	k.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(20 * time.Second); len(k.left()) > 0; <-tick.C {
		if time.Now().After(end) {
			for _, id := range k.left() {
				_ = syscall.Kill(id, syscall.SIGKILL)
			}
			k.t.Fatal("what the killed process has started goes on")
		}
	}
}

// TestLaw5_KilledWhileACommandStarts kills a process with SIGKILL at many moments around the starts of commands: none
// that begins reads less than its arguments.
func TestLaw5_KilledWhileACommandStarts(t *testing.T) {
	t.Parallel()
	whole := string(wholeInput())
	read, seeds := 0, uint64(4)
	if os.Getenv("GATEHOUSE_TEST_WIDE") != "" {
		seeds = 20
	}
	for seed := range seeds {
		dir, random := t.TempDir(), rand.New(rand.NewPCG(seed, 5))
		for range 4 {
			k := toKill(t, dir, `cat >"$DIR/$$.part"; mv "$DIR/$$.part" "$DIR/$GATEHOUSE_CALL_KEY.read"`)
			for range 3 + random.IntN(6) {
				if !k.out.Scan() {
					t.Fatal("it has ended")
				}
			}
			// a moment within a start
			for moment := time.Now().Add(time.Duration(random.IntN(5000)) * time.Microsecond); time.Now().Before(
				moment); {
			}
			k.kill()
			k.untilNoneIsLeft()
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.read"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil || string(text) != whole {
				t.Errorf("seed %d: a command ran with %d of %d bytes, %v", seed, len(text), len(whole), err)
			}
			read++
		}
	}
	if read == 0 {
		t.Error("no command has ever read its arguments, so the test proves nothing")
	}
}

// TestLaw5_ACommandHasItsWholeInputWhenItBegins: its standard input is a file of the arguments' length, and it can be
// read from its beginning.
func TestLaw5_ACommandHasItsWholeInputWhenItBegins(t *testing.T) {
	t.Parallel()
	args := `{"a":"` + strings.Repeat("x", 1<<18) + `"}`
	r := runs(t, shell(t, "stat -L -c '%F %s' /dev/stdin; head -c 5; echo; wc -c <&0; head -c 3 /dev/stdin", ""), args)
	if want := fmt.Sprintf("regular file %d\n{\"a\":\n%d\n{\"a", len(args), len(args)-5); r.Content != want {
		t.Errorf("%q, want %q", r.Content, want)
	}
}

// TestACommandEndsWithGatehouse: a command does not outlive the process that has started it, however that ends.
func TestACommandEndsWithGatehouse(t *testing.T) {
	t.Parallel()
	k := toKill(t, t.TempDir(), `mkfifo "$DIR/$$.began"; exec cat "$DIR/$$.began"`) // nobody ever writes to it
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for began := []string{}; len(began) < 3; <-tick.C {
		began, _ = filepath.Glob(filepath.Join(k.dir, "*.began"))
	}
	k.kill()
	k.untilNoneIsLeft()
}
