//go:build soak

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"time"
)

// What counts as growth: values may be larger than before by a part of them and some more.
const (
	noise       = 0.25
	noiseMemory = 8 << 20
	noiseCount  = 16 // descriptors, threads
)

// maxErrors is how many errors of the log are shown.
const maxErrors = 5

// report logs what was seen of a process.
func (e *endurance) report(l *life) {
	kind := "an immediate"
	if l.slow {
		kind = "a slow"
	}
	memory, files, threads := held(l.samples)
	e.t.Logf("%4.0f s: process %d with %s agent was ready after %.1f s and lived %.0f s; %d replies in all, %d wait; "+
		"%.1f MiB, %d descriptors, %d threads; the database has %.1f MiB, %d of %d pages free",
		time.Since(e.began).Seconds(), len(e.lives), kind, l.ready.Seconds(), time.Since(l.began).Seconds(),
		e.replied(), e.waiting(), mib(memory), files, threads,
		mib(l.stored.used+l.stored.free*l.stored.page), l.stored.free, l.stored.pages())
}

// held is the median of the memory, and the most descriptors and threads.
func held(all []sample) (memory int64, files, threads int) {
	var sizes []int64
	for _, s := range all {
		sizes = append(sizes, s.Memory)
		files, threads = max(files, s.Files), max(threads, s.Threads)
	}
	slices.Sort(sizes)
	if len(sizes) > 0 {
		memory = sizes[len(sizes)/2]
	}
	return memory, files, threads
}

// checkReplies checks that each event has one reply.
func (e *endurance) checkReplies() {
	took := time.Since(e.began)
	total := 0
	for _, p := range e.platforms {
		p.book.Begin(0, p.sent)
		s, tally := p.book.Summary(), p.Tally()
		total += p.sent
		if s.Lost > 0 || s.Doubled > 0 || p.sent == 0 {
			e.t.Errorf("%s: of %d events %d have no reply, and %d have several", p.name, p.sent, s.Lost, s.Doubled)
		}
		if tally.Strays > 0 {
			e.t.Errorf("%s: %d posts are no reply to an event in its thread, such as %q", p.name, tally.Strays,
				tally.Stray)
		}
		if len(s.EndToEnd) > 0 {
			e.t.Logf("%s: %d events have one reply each; sent again, since they were not acknowledged: %d; from an "+
				"event to its reply p50 %s, p99 %s, at most %s; calls: %v", p.name, p.sent,
				tally.Resent, at(s.EndToEnd, 0.5), at(s.EndToEnd, 0.99), at(s.EndToEnd, 1), tally.Calls)
		}
	}
	e.t.Logf("%d events in %s, %d processes: %.0f a second", total, took.Round(time.Second), len(e.lives),
		float64(total)/took.Seconds())
}

// at is a quantile of sorted times.
func at(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1))].Round(time.Millisecond)
}

// checkLog checks that no process logged an error. Warnings are counted.
func (e *endurance) checkLog() {
	f, err := os.Open(e.logFile())
	if err != nil {
		e.t.Fatal(err)
	}
	defer f.Close()
	warnings, failures := map[string]int{}, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Level, Msg string }
		if err := json.Unmarshal(lines.Bytes(), &line); err == nil && line.Level == "WARN" {
			warnings[line.Msg]++
			continue
		}
		if failures++; failures <= maxErrors {
			e.t.Errorf("gatehouse printed: %s", lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		e.t.Error(err)
	}
	if failures > maxErrors {
		e.t.Errorf("gatehouse printed %d such lines", failures)
	}
	e.t.Logf("warnings: %v", warnings)
}

// span is some samples, with what they are of.
type span struct {
	name    string
	samples []sample
}

// checkProcesses compares the processes at the beginning of the test with those at its end, at the same age, and the
// last process with itself.
func (e *endurance) checkProcesses() {
	var spans [][]sample // of each process with an immediate agent: from half a life until a life
	for _, l := range e.lives {
		var all []sample
		for _, s := range l.samples {
			if s.age >= e.life/2 && s.age <= e.life {
				all = append(all, s)
			}
		}
		if !l.slow && len(all) > 0 {
			spans = append(spans, all)
		}
	}
	if third := len(spans) / 3; third == 0 {
		e.t.Error("too few processes lived long enough to be compared")
	} else {
		e.compare(span{"the first third of the processes", slices.Concat(spans[:third]...)},
			span{"the last third", slices.Concat(spans[len(spans)-third:]...)})
	}
	all := e.lives[len(e.lives)-1].samples
	if third := len(all) / 3; third == 0 {
		e.t.Error("the last process did not live long enough")
	} else {
		e.compare(span{"the second third of the last process", all[third : 2*third]},
			span{"its last third", all[2*third:]})
	}
	var log int64
	for _, l := range e.lives {
		for _, s := range l.samples {
			log = max(log, s.log)
		}
	}
	e.t.Logf("the database's log had at most %.1f MiB", mib(log))
	if log > maxLog {
		e.t.Errorf("the database's log had %.1f MiB, more than %.0f MiB", mib(log), mib(maxLog))
	}
}

// compare checks that the processes held no more later.
func (e *endurance) compare(before, after span) {
	memory, files, threads := held(before.samples)
	memoryAfter, filesAfter, threadsAfter := held(after.samples)
	e.t.Logf("%s: %.1f MiB, %d descriptors, %d threads; %s: %.1f MiB, %d descriptors, %d threads", before.name,
		mib(memory), files, threads,
		after.name, mib(memoryAfter), filesAfter, threadsAfter)
	grown := func(what string, before, after, some int64) {
		if float64(after) > float64(before)*(1+noise)+float64(some) {
			e.t.Errorf("%s grew from %d to %d", what, before, after)
		}
	}
	grown("the memory", memory, memoryAfter, noiseMemory)
	grown("the number of descriptors", int64(files), int64(filesAfter), noiseCount)
	grown("the number of threads", int64(threads), int64(threadsAfter), noiseCount)
}

func mib(n int64) float64 { return float64(n) / (1 << 20) }
