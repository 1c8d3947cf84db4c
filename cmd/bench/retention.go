package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/report"
	"gatehouse/storage/storagetest/copies"
)

// What the retention of sessions is held against, with --check.
const (
	leastBeside = 0.90
	slowest     = "0.2" // seconds: a bucket of gatehouse_store_commit_seconds
)

// age is how old the messages are, and kept how long they are to be kept.
const (
	age  = 60 * 24 * time.Hour
	kept = "720h"
)

// turnsEach is how many turns each old conversation has; a turn is two messages.
const turnsEach = 10

// Figures of retention beside those of every load.
var retentionColumns = append([]report.Column{
	{Key: "replies_per_s", Title: "replies/s", Format: "%.0f"},
	{Key: "removed", Title: "old messages removed meanwhile", Format: "%.0f"},
	{Key: "slow", Title: "transactions above " + slowest + " s", Format: "%.0f"},
}, columns[1:]...)

// benchRetention measures gatehouse on a database full of old messages: one process keeps them, one removes them.
func benchRetention(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o := &options{plan: load.Plan{Senders: 16, Threads: 50, Mode: load.Plain, Patience: time.Minute}}
	var messages int
	f := flag.NewFlagSet("bench retention", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.runs, "runs", 5, "how often each is measured, in turn")
	f.IntVar(&o.plan.Events, "events", 20_000, "how many events are sent")
	f.IntVar(&o.plan.Warm, "warm", 1000, "how many are sent before them, and do not count")
	f.DurationVar(&o.plan.Within, "within", 10*time.Minute, "how long a run may take")
	f.IntVar(&messages, "messages", 1_000_000, "how many old messages there are")
	f.BoolVar(&o.json, "json", false, "write JSON in place of a table")
	f.StringVar(&o.gatehouse, "gatehouse", "",
		"the program `PATH` of gatehouse; not given: it is built from the working directory")
	check := f.Bool("check", false, fmt.Sprintf("exit with 1 if replies/s are below %.2f of those of the process that "+
		"keeps them, or a transaction took more than %s s", leastBeside, slowest))
	err := f.Parse(args)
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if err == nil && (o.runs < 1 || o.plan.Events < 1 || o.plan.Warm < 0 || messages < 2*turnsEach) {
		err = fmt.Errorf("--runs and --events are 1 or more, --warm is not negative, and --messages is %d or more",
			2*turnsEach)
	}
	if err != nil {
		return usageError{err}
	}
	dir, leave, err := begin(stderr)
	if err != nil {
		return err
	}
	defer leave()
	if err := o.build(ctx, dir); err != nil {
		return err
	}
	full := filepath.Join(dir, "full.db")
	if err := fill(ctx, o.gatehouse, full, messages); err != nil {
		return err
	}
	rows := []report.Row{{Name: "kept"}, {Name: "removed"}}
	for run := range o.runs {
		for i := range rows {
			figures, err := o.retain(ctx, full, dir, i > 0)
			if err != nil {
				return fmt.Errorf("%s: %w", rows[i].Name, err)
			}
			rows[i].Add(figures)
			fmt.Fprintf(stderr, "run %d of %d: %s: %.0f replies/s, %.0f messages removed\n", run+1, o.runs,
				rows[i].Name, figures["replies_per_s"], figures["removed"])
		}
	}
	replies := pair(rows, "replies_per_s")
	if o.json {
		err = report.JSON(stdout, map[string]any{"messages": messages, "paired": replies}, retentionColumns, rows)
	} else {
		fmt.Fprintf(stdout, "beside %d old messages:\n", messages)
		err = report.Table(stdout, retentionColumns, rows)
		fmt.Fprintf(stdout, "replies/s, removed/kept: %.3f (%.3f to %.3f)\n", replies.Median, replies.Least,
			replies.Most)
	}
	if *check {
		err = errors.Join(err, judgeRetention(replies.Median, rows[1].Values["slow"]))
	}
	return err
}

func judgeRetention(replies float64, slow []float64) (err error) {
	if replies < leastBeside {
		err = fmt.Errorf("replies/s are %.3f of those without, less than %.2f", replies, leastBeside)
	}
	for _, n := range slow {
		if n > 0 {
			return errors.Join(err, fmt.Errorf("%.0f transactions took more than %s s", n, slowest))
		}
	}
	return err
}

// fill makes a database with old messages: copies of a conversation of the terminal.
func fill(ctx context.Context, program, file string, messages int) error {
	talk := exec.CommandContext(ctx, program, "chat")
	talk.Env = []string{"GATEHOUSE_DATABASE_URL=sqlite:" + file, "GATEHOUSE_AGENT=echo", "HOME=" + filepath.Dir(file)}
	talk.Stdin = strings.NewReader(strings.Repeat("A question of some length, as people ask them.\n", turnsEach))
	if out, err := talk.CombinedOutput(); err != nil {
		return fmt.Errorf("gatehouse chat: %w\n%s", err, out)
	}
	return copies.Make(ctx, file, messages/2/turnsEach-1, age)
}

// retain measures a process on a copy of a full database.
func (o *options) retain(ctx context.Context, full, dir string, remove bool) (map[string]float64, error) {
	dir, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b, cleanup, err := o.gatehouseBot("gatehouse", o.gatehouse).prepare(ctx, dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "gatehouse.db")
	// on the disk, or the first commits would wait for all of it
	copied := exec.CommandContext(ctx, "sh", "-c", `cp "$0" "$1" && sync "$1"`, full, file)
	if out, err := copied.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("copying the database: %w: %s", err, out)
	}
	at := &b.Instances[0]
	at.Env = append(at.Env, "GATEHOUSE_RETENTION=0s")
	if remove {
		at.Env = append(at.Env, "GATEHOUSE_RETENTION_SESSIONS="+kept)
	}
	before, err := oldMessages(ctx, file)
	if err != nil {
		return nil, err
	}
	var slow, removed float64
	idle := b.Idle
	b.Idle = func() (bool, error) {
		left, err := oldMessages(ctx, file)
		if err != nil {
			return false, err
		}
		removed = float64(before - left)
		if slow, err = slowTransactions(ctx, strings.TrimSuffix(at.Ready, "/readyz")+"/metrics"); err != nil {
			return false, err
		}
		return idle()
	}
	r, err := load.Run(ctx, o.plan, b, o.open(o.plan, b), dir)
	if err = errors.Join(err, cleanup()); err != nil {
		return nil, err
	}
	if r.Problem != "" {
		return nil, errors.New(r.Problem)
	}
	all := figures(o.plan, r)
	all["removed"], all["slow"] = removed, slow
	return all, nil
}

// oldMessages counts the messages of the terminal's conversations.
func oldMessages(ctx context.Context, file string) (n int, err error) {
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, `select count(*) from messages where session >= 'console:' and session < 'console;'`).
		Scan(&n)
	return n, err
}

// slowTransactions is how many transactions of a process took longer than they may.
func slowTransactions(ctx context.Context, metrics string) (slow float64, err error) {
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, metrics, http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	const name = "gatehouse_store_commit_seconds_"
	found := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), " "); ok && strings.HasPrefix(key, name) {
			found[strings.TrimPrefix(key, name)], _ = strconv.ParseFloat(value, 64)
		}
	}
	quick, told := found[`bucket{le="`+slowest+`"}`]
	if !told {
		return 0, fmt.Errorf("%s has no bucket of %s s of %s", metrics, slowest, name)
	}
	return found["count"] - quick, nil
}
