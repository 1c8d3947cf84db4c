package load_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/load"
)

// platform is a platform whose bot reads its events from a pipe. It answers some of them itself, and acknowledges none
// if it is stuck.
type platform struct {
	book    *ledger.Ledger
	pipe    string
	answers int // events before this one
	stuck   bool
}

func (p *platform) Env(string) []string { return []string{"PIPE=" + p.pipe} }
func (p *platform) Ready() bool         { return true }
func (p *platform) Tally() load.Tally   { return load.Tally{} }
func (p *platform) Close()              {}

func (p *platform) Send(ctx context.Context, first, end int, sent func(n int)) error {
	if p.stuck {
		if err := os.WriteFile(p.pipe, []byte("an event\n"), 0o600); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	}
	for n := first; n < end; n++ {
		p.book.Sent(n, time.Now())
		if n < p.answers {
			p.book.Answered(n)
		}
		sent(n - first + 1)
	}
	return nil
}

// run runs a bot that prints a line, and then what it reads from the pipe, until it has read a line.
func run(t *testing.T, p *platform, plan load.Plan) (load.Result, error) {
	t.Helper()
	dir := t.TempDir()
	p.pipe = filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(p.pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	bot := load.Bot{
		Name: "the bot",
		Instances: []load.Instance{{Program: []string{
			"sh", "-c", `echo it reads; read line < "$PIPE"; echo "it got $line"`,
		}}},
	}
	return load.Run(t.Context(), plan, bot, func(book *ledger.Ledger) (load.Platform, error) {
		p.book = book
		return p, nil
	}, dir)
}

func TestABotThatEndsEndsTheRun(t *testing.T) {
	_, err := run(t, &platform{stuck: true}, load.Plan{Events: 1, Senders: 1, Within: time.Hour, Patience: time.Hour})
	if err == nil || !strings.Contains(err.Error(), "it has ended") ||
		!strings.Contains(err.Error(), "it got an event") {
		t.Error(err)
	}
}

func TestMissingRepliesAreLost(t *testing.T) {
	result, err := run(t, &platform{answers: 5},
		load.Plan{Events: 6, Warm: 2, Senders: 1, Within: time.Hour, Patience: time.Millisecond})
	if err != nil || result.Lost != 3 || result.Doubled != 0 ||
		!strings.Contains(result.Problem, "of 6 events 3 have no reply") {
		t.Errorf("%v: %+v", err, result)
	}
}
