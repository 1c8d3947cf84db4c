package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// released makes the processes of a workbench run the program as it is released: without the race detector, with Go's
// default settings.
func (w *workbench) released() {
	w.t.Helper()
	w.env = append(w.env, "GOGC=100")
	program, err := releasedProgram()
	noErr(w.t, err)
	w.program = program
}

// memory returns the resident memory of a process now and at its highest, in bytes.
func (c *child) memory(t *testing.T) (now, highest int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	value := func(key string) int {
		_, rest, _ := strings.Cut(string(status), key+":")
		n, err := strconv.Atoi(strings.Fields(rest)[0]) // in KiB
		if err != nil {
			t.Fatal(err)
		}
		return n << 10
	}
	return value("VmRSS"), value("VmHWM")
}

const mebibyte = 1 << 20

// TestStalledRequestsCostLittleMemory opens 200 connections. Each sends almost all of a body, or of a large head, and
// stops.
func TestStalledRequestsCostLittleMemory(t *testing.T) {
	t.Parallel()
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo")
	p.released()
	part := strings.Repeat("x", mebibyte-1)
	head := func(length int) string {
		return "POST /slack/events HTTP/1.1\r\nHost: gatehouse\r\nContent-Type: application/json\r\nContent-Length: " +
			fmt.Sprint(length) + "\r\n" +
			"X-Slack-Signature: v0=00\r\nX-Slack-Request-Timestamp: " + fmt.Sprint(time.Now().Unix()) + "\r\n"
	}
	large, small := head(mebibyte)+"\r\n"+part, head(64<<10)+"\r\n"+part[:64<<10-1]
	for name, stalled := range map[string][]string{
		"large bodies": slices.Repeat([]string{large}, 200),
		"small bodies": slices.Repeat([]string{small}, 200),
		// as many large ones as are read, and more
		"both bodies": append(slices.Repeat([]string{large}, 40), slices.Repeat([]string{small}, 160)...),
		"heads":       slices.Repeat([]string{head(mebibyte) + "X: " + part}, 200),
	} {
		opened := time.Now()
		p.open()
		p.ann.Says("before " + name)
		p.reads(p.dm, "", "echo: before "+name)
		before, _ := p.app.memory(t)
		counts := map[string]int{}
		for status := range p.stall(stalled) {
			counts[status]++
		}
		_, highest := p.app.memory(t)
		t.Logf("%s: the answers were %v; the memory rose from %d MiB to %d MiB", name, counts, before/mebibyte,
			highest/mebibyte)
		if highest-before > 50*mebibyte {
			t.Errorf("200 stalled %s: the memory rose from %d MiB to %d MiB", name, before/mebibyte, highest/mebibyte)
		}
		p.ann.Says("after " + name)
		p.reads(p.dm, "", "echo: after "+name)
		// one a second, however many there are
		if lines := strings.Count(p.app.out.String(),
			"a request is refused"); float64(lines) > time.Since(opened).Seconds()+1 {
			t.Errorf("200 stalled %s: the log has %d lines about refused requests", name, lines)
		}
		p.app.kill()
	}
}

// stall opens connections that each send an incomplete request, and returns the first line of each answer. It ends with
// the last one.
func (l *serveProcess) stall(requests []string) <-chan string {
	l.t.Helper()
	answers := make(chan string)
	var open sync.WaitGroup
	for _, request := range requests {
		connection, err := net.Dial("tcp", strings.TrimPrefix(l.at, "http://"))
		if err != nil {
			l.t.Fatal(err)
		}
		l.t.Cleanup(func() { connection.Close() })
		go func() { _, _ = io.WriteString(connection, request) }() // of a refused one only a part is taken
		open.Go(func() {
			line, _ := bufio.NewReader(connection).ReadString('\n')
			answers <- strings.TrimSpace(line)
		})
	}
	go func() {
		open.Wait()
		close(answers)
	}()
	return answers
}
