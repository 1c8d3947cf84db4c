package dispatch_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
	"gatehouse/storage"
)

// BenchmarkTurns measures whole turns of the echo agent, from the acceptance of a message to the delivery of its
// answer, with a platform in memory.
func BenchmarkTurns(b *testing.B) {
	for _, n := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("conversations=%d", n), func(b *testing.B) { benchmarkTurns(b, n) })
	}
}

func benchmarkTurns(b *testing.B, conversations int) {
	echo, err := agent.Echo(0, nil)
	if err != nil {
		b.Fatal(err)
	}
	var statements, commits atomic.Int64
	bench := newBench(b, setup{compiled: echo, options: func(o *dispatch.Options) {
		o.Workers = 512
	}, trace: func(s storage.Statement) {
		statements.Add(1)
		if s.SQL == "commit" {
			commits.Add(1)
		}
	}})
	payload, _ := json.Marshal("hello, are you there?")
	statements.Store(0)
	commits.Store(0)
	began := processorTime()
	b.ResetTimer()
	var answered sync.WaitGroup
	answered.Go(func() {
		for range b.N {
			<-bench.room.posted
		}
	})
	var said sync.WaitGroup
	for c := range conversations {
		said.Go(func() {
			conversation := core.ConversationID(fmt.Sprintf("C%d", c))
			for i := c; i < b.N; i += conversations {
				bench.accept(
					core.Event{
						Conversation: conversation, Body: core.MessageEvent{}, Payload: payload,
						Actor: core.Actor{ID: "room:" + string(conversation)},
					})
			}
		})
	}
	said.Wait()
	answered.Wait()
	b.StopTimer()
	n := float64(b.N)
	b.ReportMetric(float64(processorTime()-began)/n/1e3, "cpu-µs/op")
	b.ReportMetric(float64(statements.Load())/n, "statements/op")
	b.ReportMetric(float64(commits.Load())/n, "commits/op")
}

// BenchmarkTurnsAfterHistory measures turns in conversations of 10 to 10,000 messages: cpu-µs/op is to stay the same.
func BenchmarkTurnsAfterHistory(b *testing.B) {
	echo, err := agent.Echo(0, nil)
	if err != nil {
		b.Fatal(err)
	}
	bench := newBench(b, setup{compiled: echo})
	payload, _ := json.Marshal("hello, are you there?")
	say := func(conversation string) {
		bench.accept(core.Event{
			Conversation: core.ConversationID(conversation), Body: core.MessageEvent{}, Payload: payload,
			Actor: core.Actor{ID: "room:" + conversation},
		})
		<-bench.room.posted
	}
	for _, messages := range []int{10, 100, 1_000, 10_000} {
		conversation := fmt.Sprintf("C%d", messages)
		for range messages / 2 { // a question and its answer
			say(conversation)
		}
		b.Run(fmt.Sprintf("messages=%d", messages), func(b *testing.B) {
			began := processorTime()
			for b.Loop() {
				say(conversation)
			}
			b.ReportMetric(float64(processorTime()-began)/float64(b.N)/1e3, "cpu-µs/op")
		})
	}
}

// processorTime is how long this process has used processors.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
