package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/storage/storagetest/copies"
)

// BenchmarkLargeDatabase starts the program on databases that hold much: idle sessions, or turns that wait for
// approvals. One iteration is a start with 20 turns. It reports the processor time of a start, that of a turn, and the
// largest memory; each is to stay about the same.
func BenchmarkLargeDatabase(b *testing.B) {
	dir := b.TempDir()
	program, err := releasedProgram()
	noErr(b, err)
	for _, large := range []struct {
		name, agent, says string
		copies            int
	}{
		{"empty", "echo", "hello", 0}, {"sessions=10000", "echo", "hello", 10_000},
		{"sessions=100000", "echo", "hello", 100_000}, {"suspended=10000", "demo", "note add milk", 10_000},
	} {
		file := filepath.Join(dir, large.name+".db")
		talk := func(agent string, lines ...string) (cpu time.Duration, memory int64) {
			cmd := exec.Command(program, "chat")
			cmd.Env = append(inherited(), "GATEHOUSE_DATABASE_URL=sqlite:"+file, "GATEHOUSE_AGENT="+agent)
			cmd.Stdin = strings.NewReader(strings.Join(lines, "\n"))
			if out, err := cmd.CombinedOutput(); err != nil {
				b.Fatalf("%s: %v\n%s", large.name, err, out)
			}
			used := cmd.ProcessState
			return used.UserTime() + used.SystemTime(), used.SysUsage().(*syscall.Rusage).Maxrss << 10
		}
		talk(large.agent, large.says)
		noErr(b, copies.Make(b.Context(), file, large.copies, 0))
		b.Run(large.name, func(b *testing.B) {
			const turns = 20
			var started, turned time.Duration
			var most int64
			for b.Loop() {
				start, _ := talk("echo")
				whole, memory := talk("echo", slices.Repeat([]string{"hello"}, turns)...)
				started, turned, most = started+start, turned+whole-start, max(most, memory)
			}
			n := float64(b.N)
			b.ReportMetric(started.Seconds()*1e3/n, "cpu-ms/start")
			b.ReportMetric(turned.Seconds()*1e3/n/turns, "cpu-ms/turn")
			b.ReportMetric(float64(most)/mebibyte, "MiB")
			if info, err := os.Stat(file); err == nil {
				b.ReportMetric(float64(info.Size())/mebibyte, "database-MiB")
			}
		})
	}
}
