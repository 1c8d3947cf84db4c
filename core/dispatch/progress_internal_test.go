package dispatch

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core"
)

// watched is a store that records when what is asked and told of running turns.
type watched struct {
	Store
	began time.Time

	mu    sync.Mutex
	asked []time.Duration // guarded by mu, as what follows
	told  []string
	texts []string
	stop  core.Claim // whose turn is to stop
}

func (w *watched) Holds(context.Context, string, bool) ([]core.Hold, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, time.Since(w.began))
	return []core.Hold{{Key: w.stop.Key, Fence: w.stop.Fence, Stop: true}}, nil
}

func (w *watched) AddPosts(_ context.Context, _ core.Claim, posts []core.Post) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range posts {
		w.told = append(w.told, fmt.Sprintf("%s %v", p.Key, time.Since(w.began)))
		w.texts = append(w.texts, p.Text)
	}
	return nil
}

// said are the texts of the posts so far.
func (w *watched) said() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.texts)
}

// watching runs body with a dispatcher that watches its turns and shows their progress.
func watching(t *testing.T, body func(d *Dispatcher, w *watched)) {
	synctest.Test(t, func(t *testing.T) {
		w := &watched{began: time.Now()}
		o := Options{Store: w, Outbox: noOutbox{}, Log: slog.New(slog.DiscardHandler)}
		o.defaults()
		d := &Dispatcher{Options: o, running: newRunning()}
		ctx, stop := context.WithCancel(t.Context())
		go d.watch(ctx)
		go d.showProgress(ctx)
		body(d, w)
		stop()
		synctest.Wait()
	})
}

// begin adds a running turn of a message. cut, if it is given, hears why the turn is cut off.
func (d *Dispatcher) begin(n int64, cut ...context.CancelCauseFunc) *turn {
	conversation := core.ConversationID(fmt.Sprint("room:", n))
	e := core.EventRecord{Event: core.Event{Conversation: conversation, Body: core.MessageEvent{}}, Seq: n}
	t := newTurn(d, core.Claim{Key: conversation.Queue(), Fence: n, Event: e}, nil)
	if len(cut) > 0 {
		t.cut = cut[0]
	}
	d.running.add(t)
	return t
}

func TestNothingIsAskedWhileNoTurnRuns(t *testing.T) {
	watching(t, func(d *Dispatcher, w *watched) {
		time.Sleep(time.Hour)
		for range 2 {
			short := d.begin(1)
			time.Sleep(time.Millisecond)
			d.running.remove(short)
			time.Sleep(time.Hour)
		}
		if len(w.asked) > 0 || len(w.told) > 0 {
			t.Errorf("asked at %v, told %v", w.asked, w.told)
		}
	})
}

func TestAStopRequestIsSeenAtTheNextLook(t *testing.T) {
	watching(t, func(d *Dispatcher, w *watched) {
		time.Sleep(time.Hour)
		stopped := make(chan time.Duration, 1)
		running := d.begin(1, func(error) { stopped <- time.Since(w.began) })
		time.Sleep(time.Minute)
		w.mu.Lock()
		w.stop = running.claim
		w.mu.Unlock()
		asked := time.Since(w.began)
		if took := <-stopped - asked; took > stopPoll/2 {
			t.Errorf("it took %v", took)
		}
	})
}

func TestWorkingStatesAndToolsAreShownInTime(t *testing.T) {
	watching(t, func(d *Dispatcher, w *watched) {
		time.Sleep(time.Hour)
		first := d.begin(1)
		time.Sleep(10 * time.Second)
		second := d.begin(2)
		second.Step("look") // shown after the working state
		time.Sleep(10 * time.Second)
		first.Step("look")
		time.Sleep(stepsEvery / 2)
		first.Step("look") // too early to be shown at once
		time.Sleep(workingAgain - 20*time.Second)
		d.running.remove(first)
		d.running.remove(second)
		time.Sleep(time.Hour)
		want := []string{
			"working/1 1h0m0.5s", "working/2 1h0m10.5s", "steps/2 1h0m10.75s",
			"steps/1 1h0m20s", "steps/1 1h0m22s", "working/1 1h1m0.5s",
		}
		if !slices.Equal(w.told, want) {
			t.Errorf("told\n%q, want\n%q", w.told, want)
		}
	})
}

// What a model's vendor asks for is told within seconds, with the tools, and no longer once it is over.
func TestAWaitForTheModelIsShownInTime(t *testing.T) {
	watching(t, func(d *Dispatcher, w *watched) {
		first, second := d.begin(1), d.begin(2)
		until := time.Now().Add(10 * time.Minute)
		first.Waits(until)
		second.Step("look")
		second.Waits(until)
		time.Sleep(5 * time.Second)
		asked := "The model is busy and asked me to wait until " + until.Format("15:04 MST") + "."
		want := []string{"", "", asked, "look · " + asked}
		if got := slices.Sorted(slices.Values(w.said())); !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		time.Sleep(10 * time.Minute)
		second.Step("look")
		time.Sleep(5 * time.Second)
		if last := w.said()[4:]; !slices.Contains(last, "look ×2") {
			t.Errorf("told %q after the wait", last)
		}
		d.running.remove(first)
		d.running.remove(second)
	})
}
