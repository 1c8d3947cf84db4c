package discord

import (
	"context"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// running shows typing indicators until the test ends, with waits that end when they are asked to.
func (w *rig) running() (wake chan<- struct{}, stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	woken := make(chan struct{})
	w.d.sleep = func(ctx context.Context, d time.Duration) {
		if d != typingEvery {
			w.t.Errorf("it waits for %s", d)
		}
		select {
		case <-woken:
		case <-ctx.Done():
		}
	}
	w.d.typing.begin(ctx)
	stop = sync.OnceFunc(func() { cancel(); w.d.typing.going.Wait() })
	w.t.Cleanup(stop)
	return woken, stop
}

func (w *rig) typed(channel string, times int) {
	w.t.Helper()
	if err := w.WaitFor(w.ctx(), func(s *discordtest.Server) bool {
		return len(s.Typing(channel)) == times
	}); err != nil {
		w.t.Fatalf("typed %d times: %v", len(w.Typing(channel)), err)
	}
}

func TestTypingIsShownUntilTheAnswer(t *testing.T) {
	w := newRig(t, nil)
	wake, stop := w.running()
	to := w.asked("hello")
	working := func(on bool) {
		if err := w.setTyping(to, on); err != nil {
			t.Error(err)
		}
	}
	working(true)
	w.typed(general, 1) // there is no thread yet
	working(true)
	wake <- struct{}{}
	w.typed(general, 2)
	working(false)
	w.say(core.Delivery{Post: core.Post{Key: "steps/1", Kind: core.PostSteps, Text: "demo.calc", To: to}})
	working(true)
	w.typed(to.Thread, 1)
	w.say(core.Delivery{Post: core.Post{Key: "steps/2", Kind: core.PostSteps, Text: "demo.calc", To: to}})
	wake <- struct{}{}
	w.typed(to.Thread, 2)
	w.say(answerTo("reply/1", "done", to))
	working(true)
	w.typed(to.Thread, 3)
	stop()
	working(true)
	if len(w.d.typing.channels) != 0 || len(w.Typing(to.Thread)) != 3 {
		t.Error("it types after its end")
	}
}

// The answer opens the thread. The indicator that was shown in the channel for it ends; those for other conversations
// stay.
func TestTypingEndsWhenTheAnswerOpensTheThread(t *testing.T) {
	w := newRig(t, nil)
	wake, _ := w.running()
	first, second := w.asked("hello"), w.asked("and hello")
	for _, to := range []core.Address{first, second} {
		if err := w.setTyping(to, true); err != nil {
			t.Fatal(err)
		}
	}
	w.typed(general, 2)
	w.say(answerTo("reply/1", "done", first))
	if err := w.setTyping(first, false); err != nil {
		t.Fatal(err)
	}
	for len(w.Typing(general)) < 3 { // the second goes on; the first may take one more wait
		wake <- struct{}{}
	}
	w.say(answerTo("reply/2", "done", second))
	w.d.typing.going.Wait()
	if len(w.d.typing.channels) != 0 || len(w.Typing(first.Thread))+len(w.Typing(second.Thread)) != 0 {
		t.Error("it types after its end")
	}
}

// A cancelled call could break another call that already uses its connection.
func TestTypingCallInProgressIsNotCancelled(t *testing.T) {
	shown := newRig(t, nil).d.typing
	shown.begin(t.Context())
	entered, release := make(chan struct{}), make(chan struct{})
	var cut error
	shown.start("1", func(ctx context.Context) error {
		close(entered)
		<-release
		cut = ctx.Err()
		return nil
	})
	<-entered
	shown.stop("1", nil)
	close(release)
	shown.going.Wait()
	if cut != nil {
		t.Error(cut)
	}
}

func TestTypingEndsWithoutPermission(t *testing.T) {
	w := newRig(t, nil)
	w.running()
	w.DenyBot(general, discordtest.SendMessages)
	if err := w.setTyping(core.Address{Platform: address.Platform, Channel: general}, true); err != nil {
		t.Error(err)
	}
	w.d.typing.going.Wait()
	if len(w.d.typing.channels) != 0 || w.CountCalls(discordtest.TriggerTyping) != 1 {
		t.Error("it goes on")
	}
}

// If another process answers or ends the turn, only that process is told to stop the indicator.
func TestTypingEndsWhenAnotherProcessAnswers(t *testing.T) {
	w := newRig(t, nil)
	to := w.asked("hello")
	elsewhere := core.EventRecord{Event: core.Event{Address: core.Address{Platform: address.Platform, Channel: secret}}}
	asked := make(chan []core.EventRecord, 1)
	w.d.Inbox = adaptertest.Events(func(context.Context, core.EventFilter) ([]core.EventRecord, error) {
		return <-asked, nil
	})
	wake, _ := w.running()
	if err := w.setTyping(to, true); err != nil {
		t.Error(err)
	}
	w.typed(general, 1) // there is no thread yet
	asked <- []core.EventRecord{elsewhere, {Event: core.Event{Address: to}}}
	wake <- struct{}{}
	w.typed(general, 2)
	w.clock.Advance(openEvery)
	asked <- []core.EventRecord{elsewhere}
	wake <- struct{}{}
	w.d.typing.going.Wait()
	if len(w.d.typing.channels) != 0 || len(w.Typing(general)) != 2 {
		t.Errorf("it types after the end: %d times", len(w.Typing(general)))
	}
}

// If the store can't be read and the turn is no longer reported, the indicator expires.
func TestTypingExpires(t *testing.T) {
	w := newRig(t, nil)
	w.d.Inbox = adaptertest.Events(func(context.Context, core.EventFilter) ([]core.EventRecord, error) {
		return nil, core.Errorf(core.StoreBusy, "busy")
	})
	wake, _ := w.running()
	to := core.Address{Platform: address.Platform, Channel: general}
	if err := w.setTyping(to, true); err != nil {
		t.Error(err)
	}
	w.typed(general, 1)
	wake <- struct{}{}
	w.typed(general, 2)
	w.clock.Advance(typingFor - time.Second)
	if err := w.setTyping(to, true); err != nil { // asked for again, for the last time
		t.Error(err)
	}
	w.clock.Advance(typingFor - time.Second)
	wake <- struct{}{}
	w.typed(general, 3)
	w.clock.Advance(time.Second)
	wake <- struct{}{}
	w.d.typing.going.Wait()
	if len(w.d.typing.channels) != 0 {
		t.Error("it goes on")
	}
}

// setTyping shows or clears the typing indicator.
func (w *rig) setTyping(to core.Address, on bool) error {
	_, _, err := w.d.Post(w.ctx(),
		core.Delivery{Post: core.Post{Key: "working/1", To: to, Kind: core.PostWorking, On: on}})
	return err
}
