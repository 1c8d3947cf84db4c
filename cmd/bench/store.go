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

	"gatehouse/cmd/bench/internal/commits"
	"gatehouse/cmd/bench/internal/rate"
	"gatehouse/cmd/bench/internal/report"
	"gatehouse/cmd/bench/internal/turns"
	"gatehouse/core"
)

// storeColumns are what is measured of each thing that bench store does.
var storeColumns = []report.Column{
	{Key: "per_s", Title: "a second", Format: "%.0f"},
	{Key: "of_single", Title: "of single commits", Format: "%.2f"},
	{Key: "of_grouped", Title: "of grouped rows", Format: "%.3f"},
	{Key: "p50_ms", Title: "p50 ms", Format: "%.3f"},
	{Key: "p99_ms", Title: "p99 ms", Format: "%.3f"},
	{Key: "cpu_us", Title: "CPU, µs", Format: "%.0f"},
}

// storeBench measures what the folder, the driver, the store and the dispatcher can do, as sessions that wait for each
// other do it at once.
type storeBench struct {
	local
	dir      string
	sessions []int
	length   time.Duration
}

func benchStore(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s := storeBench{local: local{runs: 3}}
	err := s.parse("store", args, stderr, func(f *flag.FlagSet) {
		f.StringVar(&s.dir, "dir", "", "the `FOLDER` whose disk is measured; not given: the one for temporary files")
		f.DurationVar(&s.length, "for", time.Second, "how long each thing is done")
		s.sessions = []int{1, 16, 256}
		f.Var((*numbers)(&s.sessions), "sessions",
			"how many do it at the same time, several numbers separated by commas")
	})
	if err != nil {
		return usageError{err}
	}
	warnIfBusy(stderr)
	for _, sessions := range s.sessions {
		rows := make([]report.Row, len(storeThings))
		for range s.runs {
			if err := s.once(ctx, sessions, rows); err != nil {
				return err
			}
		}
		if err := s.print(stdout, fmt.Sprintf("%d at the same time:", sessions), map[string]any{"sessions": sessions},
			storeColumns, rows); err != nil {
			return err
		}
	}
	return nil
}

// storeThings are what is measured. The last one is compared with the others.
var storeThings = []string{
	"fsync", "commit of one row", "grouped commits, rows", "accept", "finish", "deliver", "turn in the store",
	"dispatch",
}

// once measures everything once, each in a new database.
func (s *storeBench) once(ctx context.Context, sessions int, rows []report.Row) (err error) {
	dir, err := os.MkdirTemp(s.dir, "bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	samples, err := commits.Measure(ctx, dir, sessions, s.length)
	if err != nil {
		return err
	}
	single, grouped := samples[1].PerSecond(), samples[2].PerSecond()
	steps, err := s.steps(ctx, filepath.Join(dir, "steps.db"), sessions)
	if err != nil {
		return fmt.Errorf("the steps of turns: %w", err)
	}
	whole, err := s.turns(ctx, filepath.Join(dir, "turns.db"), sessions)
	if err != nil {
		return fmt.Errorf("turns in the store: %w", err)
	}
	dispatched, err := s.dispatched(ctx, filepath.Join(dir, "dispatch.db"), sessions)
	if err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	samples = append(append(samples, steps...), whole, dispatched)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	for i, sample := range samples {
		rows[i].Name = storeThings[i]
		rows[i].Add(map[string]float64{
			"per_s": sample.PerSecond(), "of_single": sample.PerSecond() / single,
			"of_grouped": sample.PerSecond() / grouped,
			"p50_ms":     ms(report.Percentile(sample.Latencies, 0.5)),
			"p99_ms":     ms(report.Percentile(sample.Latencies, 0.99)),
			"cpu_us":     sample.CPU.Seconds() * 1e6 / float64(sample.Done),
		})
	}
	return nil
}

// storeText is what people say.
const storeText = "hello, are you there?"

// steps measures the steps of turns: in rounds, in which each session accepts a message, then each ends its turn, then
// each delivers the reply.
func (s *storeBench) steps(ctx context.Context, file string, sessions int) (samples []rate.Sample, err error) {
	store, owner, err := turns.OpenStore(ctx, "sqlite:"+file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	claims, replies := make([]core.Claim, sessions), make([]core.OutboxRow, sessions)
	round := 0
	steps := []func(ctx context.Context, i int) error{
		func(ctx context.Context, i int) (err error) {
			claims[i], err = turns.Accept(ctx, store, owner, int64(round), storeConversation(i), storeText)
			return err
		},
		func(ctx context.Context, i int) (err error) {
			replies[i], err = turns.Finish(ctx, store, claims[i], storeText, "echo: "+storeText)
			return err
		},
		func(ctx context.Context, i int) error { return turns.Deliver(ctx, store, replies[i]) },
	}
	rounds := make([][]rate.Sample, len(steps)) // by step
	for until := time.Now().Add(time.Duration(len(steps)) * s.length); round == 0 || time.Now().Before(until); round++ {
		for i, step := range steps {
			sample, err := rate.Each(ctx, sessions, sessions, step)
			if err != nil {
				return nil, err
			}
			rounds[i] = append(rounds[i], sample)
		}
	}
	for _, all := range rounds {
		samples = append(samples, rate.Sum(all))
	}
	return samples, nil
}

func storeConversation(session int) core.ConversationID {
	return core.ConversationID(fmt.Sprintf("room:c%d", session))
}

// turns measures accept, finish and delivery, one after the other in each conversation.
func (s *storeBench) turns(ctx context.Context, file string, sessions int) (sample rate.Sample, err error) {
	store, owner, err := turns.OpenStore(ctx, "sqlite:"+file)
	if err != nil {
		return rate.Sample{}, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	said := make([]int64, sessions)
	return rate.During(ctx, sessions, s.length, func(ctx context.Context, session int) error {
		said[session]++
		c, err := turns.Accept(ctx, store, owner, said[session], storeConversation(session), storeText)
		if err != nil {
			return err
		}
		row, err := turns.Finish(ctx, store, c, storeText, "echo: "+storeText)
		if err != nil {
			return err
		}
		return turns.Deliver(ctx, store, row)
	})
}

// dispatched measures whole turns of the echo agent, from a message to the post of its reply. In each conversation, the
// next message comes when the reply to the last one is there.
func (s *storeBench) dispatched(ctx context.Context, file string, sessions int) (sample rate.Sample, err error) {
	bot, err := turns.Start(ctx, "sqlite:"+file, "room", turns.Echo)
	if err != nil {
		return rate.Sample{}, err
	}
	defer func() { err = errors.Join(err, bot.Close()) }()
	return rate.During(ctx, sessions, s.length, func(ctx context.Context, session int) error {
		return bot.Say(ctx, storeConversation(session), storeText, core.PostReply)
	})
}
