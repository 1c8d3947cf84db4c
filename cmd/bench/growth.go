package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"gatehouse/cmd/bench/internal/fill"
	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/report"
	"gatehouse/cmd/bench/internal/turns"
	"gatehouse/core"
)

// grownColumns are what is measured of a gatehouse that is started on a large database, and answers some messages.
var grownColumns = []report.Column{
	{Key: "size_mb", Title: "database, MB", Format: "%.1f"},
	{Key: "start_ms", Title: "start to ready, ms", Format: "%.1f"},
	{Key: "start_of_empty", Title: "of empty", Format: "%.2f"},
	{Key: "peak_rss_mb", Title: "RSS at most, MB", Format: "%.1f"},
	{Key: "bytes_each", Title: "above empty, bytes each", Format: "%.0f"},
	{Key: "cpu_ms_per_event", Title: "CPU, ms/event", Format: "%.3f"},
	{Key: "end_to_end_p50_ms", Title: "answered, p50 ms", Format: "%.2f"},
}

// growthBench measures whether what is stored makes gatehouse slower or larger.
type growthBench struct {
	local
	options   options
	histories []int
	idle      []int
	suspended int
	big       int // MB
}

func benchGrowth(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	g := growthBench{
		local:     local{runs: 3},
		histories: []int{10, 100, 1_000, 10_000}, idle: []int{10_000, 100_000},
		options: options{plan: load.Plan{
			Events: 50, Warm: 50, Senders: 1, Threads: 10, Mode: load.Plain, Within: time.Minute, Patience: time.Minute,
		}},
	}
	err := g.parse("growth", args, stderr, func(f *flag.FlagSet) {
		f.Var((*numbers)(&g.histories), "histories",
			"the lengths of conversations at which a turn is measured, separated by commas")
		f.Var((*numbers)(&g.idle), "idle", "how many idle sessions a database has, several numbers separated by commas")
		f.IntVar(&g.suspended, "suspended", 10_000, "how many turns wait for approvals in another one")
		f.IntVar(&g.big, "big", 0, "how many MB a further database has, such as 1000; 0: there is none")
		f.StringVar(&g.options.gatehouse, "gatehouse", "",
			"the program `PATH` of gatehouse; not given: it is built from the working directory")
	})
	if err != nil {
		return usageError{err}
	}
	warnIfBusy(stderr)
	dir, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	rows := make([]report.Row, len(g.histories))
	for range g.runs {
		for i, n := range g.histories {
			if err := measureHistory(ctx, dir, n, &rows[i]); err != nil {
				return fmt.Errorf("conversations of %d messages: %w", n, err)
			}
		}
	}
	if err := g.print(stdout, "a turn of the echo agent, by what came before it:", map[string]any{"growth": "history"},
		historyColumns, rows); err != nil {
		return err
	}
	if rows, err = g.grown(ctx, dir); err != nil {
		return err
	}
	return g.print(stdout, "gatehouse serve, by what its database holds:", map[string]any{"growth": "database"},
		grownColumns, rows)
}

// stage is a database that holds something.
type stage struct {
	name  string
	file  string // "": gatehouse makes it
	many  int    // what it holds; 0: nothing, or as much as makes it so large:
	bytes int64
}

// grown starts gatehouse on databases of several sizes.
func (g *growthBench) grown(ctx context.Context, dir string) (rows []report.Row, err error) {
	if g.options.gatehouse == "" {
		if g.options.gatehouse, err = buildGatehouse(ctx, dir); err != nil {
			return nil, err
		}
	}
	stages := []stage{
		{name: "empty", file: "empty.db"}, {name: "new"},
		{name: fmt.Sprintf("%d suspended", g.suspended), file: "suspended.db", many: g.suspended},
	}
	for _, n := range g.idle {
		stages = append(stages, stage{name: fmt.Sprintf("%d sessions", n), file: fmt.Sprintf("idle%d.db", n), many: n})
	}
	if g.big > 0 {
		stages = append(stages, stage{name: fmt.Sprintf("%d MB", g.big), file: "big.db", bytes: int64(g.big) * 1e6})
	}
	rows = make([]report.Row, len(stages))
	for i, s := range stages {
		if s.file == "" {
			continue
		}
		stages[i].file = filepath.Join(dir, s.file)
		if err := g.fill(ctx, stages[i]); err != nil {
			return nil, fmt.Errorf("making a database with %s: %w", s.name, err)
		}
	}
	for range g.runs {
		for i, s := range stages {
			if err := g.serve(ctx, dir, s, &rows[i], &rows[0]); err != nil {
				return nil, fmt.Errorf("on a database with %s: %w", s.name, err)
			}
		}
	}
	return rows, nil
}

// The conversations that are copied. They are on the platform that gatehouse serves then.
const (
	idleConversation      = "slack:bench-idle"
	suspendedConversation = "slack:bench-suspended"
)

// chunk is how many copies are made in one transaction.
const chunk = 10_000

// fill makes a database: an empty one, one of idle sessions, until there are as many or it is as large as it should be,
// or of suspended turns.
func (g *growthBench) fill(ctx context.Context, s stage) (err error) {
	if s.many == 0 && s.bytes == 0 {
		return converse(ctx, s.file, turns.Echo, func(*turns.Bot) error { return nil })
	}
	name, agent, text, want := idleConversation, turns.Agent(turns.Echo), storeText, core.PostReply
	if filepath.Base(s.file) == "suspended.db" {
		name, agent, text, want = suspendedConversation, turns.Asking, turns.AsksFor, core.PostCard
	}
	if err := converse(ctx, s.file, agent, func(b *turns.Bot) error {
		return b.Say(ctx, core.ConversationID(name), text, want)
	}); err != nil {
		return err
	}
	f, err := fill.Open(ctx, s.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	template, err := f.Template(ctx, name)
	if err != nil {
		return err
	}
	for made := 1; ; {
		end := made + chunk
		if s.many > 0 {
			end = min(end, s.many)
		}
		if made == end {
			return nil
		}
		if err := template.Copy(ctx, made, end); err != nil {
			return err
		}
		made = end
		if size, err := f.Size(ctx); err != nil || s.many == 0 && size >= s.bytes {
			return err
		}
	}
}

// converse runs a bot for as long as something is said to it.
func converse(ctx context.Context, file string, agent turns.Agent, say func(*turns.Bot) error) error {
	b, err := turns.Start(ctx, "sqlite:"+file, "slack", agent)
	if err != nil {
		return err
	}
	return errors.Join(say(b), b.Close())
}

// serve adds to a row what gatehouse needs on a database, compared with the empty one, whose row is the first.
func (g *growthBench) serve(ctx context.Context, dir string, s stage, row, empty *report.Row) error {
	o := g.options
	o.existing = s.file
	r, err := o.once(ctx, o.plan, o.gatehouseBot("gatehouse", o.gatehouse), dir)
	if err != nil {
		return err
	}
	if r.Problem != "" {
		return errors.New(r.Problem)
	}
	all := figures(o.plan, r)
	if s.file != "" {
		size, err := sqliteSize(ctx, s.file)
		if err != nil {
			return err
		}
		all["size_mb"] = float64(size) / 1e6
	}
	if row != empty {
		all["start_of_empty"] = all["start_ms"] / report.Median(empty.Values["start_ms"])
	}
	if s.many > 0 {
		all["bytes_each"] = (all["peak_rss_mb"] - report.Median(empty.Values["peak_rss_mb"])) * (1 << 20) / float64(
			s.many)
	}
	row.Name = s.name
	row.Add(all)
	return nil
}
