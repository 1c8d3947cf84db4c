package process_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/cmd/bench/internal/process"
)

// TestUsageIsThatOfAllProcesses starts a shell whose child computes, and reads what they use while both run.
func TestUsageIsThatOfAllProcesses(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GATEHOUSE_RATE", "1") // is not passed on
	const script = `echo "rate=$GATEHOUSE_RATE own=$OWN"
		(i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo computed > "$PIPE"; exec sleep 600) & wait`
	p, err := process.Start([]string{"sh", "-c", script}, []string{"OWN=1", "PIPE=" + pipe}, filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if text, err := os.ReadFile(pipe); err != nil || string(text) != "computed\n" {
		t.Fatalf("%q %v", text, err)
	}
	used, err := p.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if used.CPU < 10*time.Millisecond || used.CPU > time.Hour || used.Peak < 100<<10 || used.Switches == 0 {
		t.Errorf("%+v", used)
	}
	if shell := process.CPU("sh", []int{p.PID()}); shell <= 0 || shell >= used.CPU {
		t.Errorf("the shell used %v of %v", shell, used.CPU)
	}
	if got := process.CPU("another", []int{p.PID()}); got != 0 {
		t.Errorf("a process with another name used %v", got)
	}
	if held, err := p.Held(); err != nil || held.Memory < 10<<10 || held.Memory > used.Peak || held.Files < 3 ||
		held.Threads != 1 {
		t.Errorf("%+v %v", held, err)
	}
	if got := p.Tail(); got != "rate= own=1" {
		t.Errorf("%q", got)
	}
	p.End(syscall.SIGTERM)
	if _, err := p.Usage(); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("after the end: %v", err)
	}
	if _, err := p.Held(); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("after the end: %v", err)
	}
}
