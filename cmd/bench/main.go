// Command bench measures how fast gatehouse is, and compares it with other bots:
//
//	go run ./cmd/bench NAME [flags]
//
// The benches:
//
//	slack    a real gatehouse serve with the echo agent, SQLite on disk (Postgres with --database) and a fake Slack, which sends it signed
//	         mentions by HTTP, or with --socket by Socket Mode
//	discord  the same with a fake Discord: mentions by its gateway, or with --interactions slash commands by HTTP
//	floor    the same as slack with the floor bot in gatehouse's place, the least that a bot in Go can do: it verifies, acknowledges and
//	         posts, and stores nothing
//	peer     the same as slack with another bot, which --command starts
//	compare  floor, peer (if --command is given) and gatehouse in turn, --runs times, with medians, spreads and ratios; with --before PATH
//	         an older program of gatehouse and the present one instead, see below
//	many     a gatehouse serve with 2,000 turns whose agent takes 30 s, at once, and short turns beside them
//	store    what a disk and SQLite's driver can do at best, and the steps of turns, turns in the store and whole dispatch in this process as
//	         ratios to it, by 1, 16 and 256 sessions at once; every session waits for one thing before it does the next
//	growth   a turn in conversations of 10 to 10,000 messages in this process, and a gatehouse serve on large databases: time to start, memory
//	hrf, typestate
//	         the checks of HRF envelopes and of the evidence of turns, each at three sizes
//
// The first five print replies/s, the processor time for an event, the largest memory, times to the acknowledgement and
// to the reply, bytes written and bytes stored, and how many replies were lost or doubled: if there are any, the exit
// code is 1. They send as fast as events are acknowledged, or at a steady --rate, or with --svg at several. With --mode
// something is wrong: every event comes twice, the platform answers some posts with 429, the agent is slow, or the bot
// is killed in the middle and started again. bench NAME -h lists the flags.
//
// The driver and the fake share the processors with the bot. internal/wire keeps what they cost small, and the table
// shows it. Times of events begin when they are sent, or, at a steady rate, when they were due if no sender was free.
// Replies are counted by a mark in the text of each event, which the bot has to repeat in the event's thread.
//
// compare --before PATH tells what a change costs. PATH is gatehouse of the commit before:
//
//	git worktree add /tmp/before HEAD~1 && (cd /tmp/before && go build -o /tmp/gatehouse-before ./cmd/gatehouse)
//	go run ./cmd/bench compare --before /tmp/gatehouse-before --check
//
// Both programs run at the same time, each with a database and a Slack of its own, and get their events by turns, 100
// each, so whatever else slows the machine down hits both alike. Of eight events five are answered with Markdown
// (headings, lists, tables, code, links), two with plain words, and one after an approval, whose card is pressed
// (internal/mix). That is done in 7 rounds (--rounds), each with new processes. Below the table are the ratios
// now/before of the replies/s and of the CPU time per reply: one of each round, their median, least and most. With
// --check the exit code is 1 if the median of the replies/s is below 0.95, or that of the CPU time above 1.05. With
// --discord the same people are on Discord; its limit of posts, some 46 a second, bounds the replies of both.
//
// TestEndurance, with the build tag soak, sends events by Slack and Discord at the same time to one gatehouse, for half
// an hour or as TEST_ENDURANCE says, with all of that wrong at once, and looks at its memory and its database, too.
//
// store and growth hold the dispatcher, the store and the delivery of gatehouse with the echo agent and a platform in
// memory (internal/turns), so their processor time has that of the people in it too. The commits that store compares
// with are made by the connection that a store writes with, without database/sql (internal/commits). growth fills
// databases with copies of a real conversation by SQL (internal/fill).
//
// Figures of one machine can be compared if they are of one run; ratios, also between machines. A new bench is a
// function and a line in benches.
//
// # What was measured
//
// On 2 cores (AMD EPYC) with an ext4 disk. Each change adds a line with what it gave; a ± is half of the way from the
// least to the most of the runs.
//
//	2026-11-23, the first figures; other programs used about half of the machine, so the times are too long
//	store     at once   dispatch of single commits   dispatch/s   single commits/s   turn in the store/s   dispatch p99
//	                1                    0.24 ±32%          437               2661                   648           8 ms
//	               16                    0.33 ±29%         1280               3209                  1728          35 ms
//	              256                    0.50 ±36%         1562               2391                  2654        1037 ms
//	many      2,000 turns of 30 s: 39.3 s, 149 MB, 97 ms of CPU a second while they wait; a short turn 5.2 ms beside them, 4.9 ms alone
//	growth    a turn after 10,000 messages: 0.87 of the CPU of one after 10 (±17%)
//	          RSS at most: empty 50.9 MB, 10,000 suspended 52.1, 100,000 sessions 51.5, 1 GB 51.3
//	          start to ready: new 163 ms (±73%), empty 82 (±77%), 100,000 sessions 88 (±13%), 1 GB 67 (±12%)
//	typestate 97, 51 and 47 ns/byte with 10, 100 and 1,000 calls
//	hrf       23, 27 and 35 ns/byte with 1,000, 5,000 and 20,000 steps
//
// With 256 conversations at once, dispatch then had a p50 of 23 ms and a p99 of a second: posts that were handed over
// took all slots of their platform, and the others waited meanwhile. What changed since, each on its own, beside other
// work:
//
//	256 slots a platform in place of 32                       dispatch, 256 at once: 350 -> 250 µs and 400 -> 300 µs of CPU a turn
//	fewer statements a turn, looks only for what is left      one conversation: 38 -> 29 statements, 1,520 -> 1,190 µs of CPU
//	an arrival shares the commit of the next change           at 118/s: 2.8 -> 2.3 ms of CPU an event
//	events decoded in one pass without a tree                 1.3 -> 1.05 ms of CPU an event, 760 -> 64 allocations to receive one
//	nothing ticks while no turn runs                          idle: 5.2 -> 1.8 ms of CPU a second
//	the index for a destination's posts                       2,000 turns that end together: 38 -> 31 s
//	what is left is told on Postgres too                      the server's CPU for a reply: 1.85 -> 1.45 ms
//
// On the machine at rest, with Bolt for JavaScript 5.1 as the peer:
//
//	2026-11-23, compare --runs 5; compare --runs 3 --rate 118 --events 1000 --idle 6s
//	                     floor         Bolt        gatehouse    of floor   of Bolt
//	replies/s            13078 ±15%    1593 ±4%    2476 ±4%         0.19      1.55
//	CPU, ms/event        0.081 ±15%    0.843 ±5%   0.554 ±5%        6.85      0.66
//	RSS at most, MB      29            159         83               2.91      0.52
//	start to ready, ms   10            205         42 ±9%
//	acknowledged p99, ms 4.49          22.64       14.45            3.22      0.64
//	118/s: CPU, ms/event 0.479 ±14%    2.365 ±6%   1.968 ±16%       4.11      0.83
//	       idle, ms/s    0             0.44        1.75 ±36%
//	       acknowledged p99, ms  0.74  3.27        1.96             2.65      0.60
//	       answered p99, ms      0.91  4.71        3.45             3.80      0.73
//	       written/stored                          131.1/3.69 kB
//	store     at once   dispatch of single commits   dispatch/s   single commits/s   turn in the store/s   dispatch p99
//	                1                    0.26 ±15%         1151               4620                    44           2 ms
//	               16                    0.74 ±16%         3379               4547                  3052           9 ms
//	              256                    0.77 ±18%         3257               4235                  4271         112 ms
//	many      2,000 turns of 30 s: 30.8 s, 142 MB, 46 ms of CPU a second while they wait; a short turn 3.3 ms beside them and alone
//	growth    a turn after 10,000 messages: 1.05 of the CPU of one after 10 (±1%)
//	          RSS at most: empty 52.9 MB, 10,000 suspended 53.2, 100,000 sessions 53.2
//	slack     Postgres: 562 replies/s, 1.36 ms of CPU an event and 1.79 of the server; three replicas 401, since the cores are used up
//	discord   46 replies/s, the limit of posts that it keeps
//	endurance a million events in 24 minutes by 20 processes: none lost or doubled, 3,660 bytes each, 27 to 39 MiB of memory
//
// Later that day the same machine was about 1.4 times as fast, with Bolt at 2465 replies/s and the floor bot at 23424.
// Both columns are of that time, in turn:
//
//	SQLite keeps messages in the order in which they came     a commit of 33 turns: 132 -> 94 µs a turn; pages written: 11.6 -> 8 a turn
//	store, 256 at once                                        dispatch of single commits: 1.05 ±6% -> 1.11 ±25%
//	on Postgres what is needed together is asked together     round trips for a reply of the echo agent: 12 -> 5
//	fewer indexes and locks, no foreign key of messages       Postgres: 1120 -> 1380 replies/s; CPU of the server 0.89 -> 0.70 ms, of gatehouse
//	                                                          0.70 -> 0.58
//	compare --runs 3                                          3454 ±8% replies/s, 1.40 of Bolt; 0.409 ms, 0.71 of Bolt; 65 MB, 0.41 of Bolt
//	at 118/s                                                  1.316 ms an event, 0.95 of Bolt; idle 1.44 ms/s
//
// What gained nothing then: SQLite without the mutex of its connections, and again fdatasync.
//
// One turn in the store after the other costs 22 ms since then, because nobody comes to share the commit of an arrival.
//
// Where an event's CPU goes when events come as fast as they are acknowledged: half of it is the one writer of SQLite
// (two fifths of that the commits: some 20 pages of 2 KiB that are written to the log), 10 % receiving, 17 % turns, 14
// % posting; memory management is about 12 %, spread over these. At 118/s an event costs 3.5 times as much, one of
// Bolt's 2.8 times: every wake-up finds cold caches. Half of the context switches there are of Go's own monitor, which
// looks on while SQLite waits for the disk. What was tried and went out again, since it gained less than 5 %: a profile
// for the compiler, fdatasync and no memory statistics in SQLite, a select for update in place of an upsert on
// Postgres, claims of 256 queues at a time.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"gatehouse/cmd/bench/internal/floor"
	"gatehouse/cmd/bench/internal/sizes"
)

// bench is a bench: it takes its flags, and writes what it measured to stdout. An error of the type usageError is one
// of the flags.
type bench func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// benches are the benches by name.
var benches = map[string]bench{
	"slack":     loadBench("slack"),
	"floor":     loadBench("floor"),
	"peer":      loadBench("peer"),
	"compare":   loadBench("compare"),
	"discord":   loadBench("discord"),
	"store":     benchStore,
	"growth":    benchGrowth,
	"many":      benchMany,
	"hrf":       sizesBench("hrf", sizes.HRF),
	"typestate": sizesBench("typestate", sizes.Typestate),
}

// usageError is an error of the arguments.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	names := strings.Join(slices.Sorted(maps.Keys(benches)), ", ")
	if len(args) == 0 {
		fmt.Fprintf(stderr, "usage: bench NAME [flags]\nbenches: %s\n", names)
		return 2
	}
	do, known := benches[args[0]]
	if args[0] == floorCommand {
		do, known = func(ctx context.Context, _ []string, _, stderr io.Writer) error {
			return floor.Run(ctx, stderr)
		}, true
	}
	if !known {
		fmt.Fprintf(stderr, "bench: there is no bench %q; there are: %s\n", args[0], names)
		return 2
	}
	err := do(ctx, args[1:], stdout, stderr)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "bench: %s: %v\n", args[0], err)
		return 2
	}
	fmt.Fprintf(stderr, "bench: %s: %v\n", args[0], err)
	return 1
}
