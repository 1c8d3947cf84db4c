package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gatehouse/cmd/bench/internal/fill"
	"gatehouse/cmd/bench/internal/rate"
	"gatehouse/cmd/bench/internal/report"
	"gatehouse/cmd/bench/internal/turns"
	"gatehouse/core"
)

// historyColumns are what is measured of turns in conversations of a length.
var historyColumns = []report.Column{
	{Key: "cpu_us", Title: "CPU, µs", Format: "%.0f"},
	{Key: "p50_ms", Title: "p50 ms", Format: "%.3f"},
	{Key: "p99_ms", Title: "p99 ms", Format: "%.3f"},
}

// How many conversations of a length there are, and how many turns are measured in each: so many that the noise is
// small, and so few that the shortest conversations stay short.
const (
	historyConversations = 20
	historyTurns         = 10
)

// measureHistory adds to a row what a turn needs in conversations that have so many messages.
func measureHistory(ctx context.Context, dir string, messages int, row *report.Row) (err error) {
	if dir, err = os.MkdirTemp(dir, "history-"); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "gatehouse.db")
	conversation := func(i int) core.ConversationID {
		return core.ConversationID(fmt.Sprintf("slack:bench-%d", i%historyConversations))
	}
	var sample rate.Sample
	say := func(each int) func(*turns.Bot) error {
		return func(b *turns.Bot) (err error) {
			sample, err = rate.Each(ctx, 1, historyConversations*each, func(ctx context.Context, i int) error {
				return b.Say(ctx, conversation(i), storeText, core.PostReply)
			})
			return err
		}
	}
	if err := converse(ctx, file, turns.Echo, say(1)); err != nil {
		return err
	}
	f, err := fill.Open(ctx, file)
	if err != nil {
		return err
	}
	for i := range historyConversations {
		if err == nil {
			err = f.History(ctx, string(conversation(i).Session(1)), messages)
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	err = converse(ctx, file, turns.Echo, func(b *turns.Bot) error {
		if err := say(1)(b); err != nil { // these do not count
			return err
		}
		return say(historyTurns)(b)
	})
	if err != nil {
		return err
	}
	ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
	row.Name = fmt.Sprintf("%d messages", messages)
	row.Add(map[string]float64{
		"cpu_us": sample.CPU.Seconds() * 1e6 / float64(sample.Done),
		"p50_ms": ms(report.Percentile(sample.Latencies, 0.5)), "p99_ms": ms(report.Percentile(sample.Latencies, 0.99)),
	})
	return nil
}
