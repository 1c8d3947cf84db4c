package slacktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest"
)

const post = "chat.postMessage"

func (w *workspace) posts(what string) error {
	_, _, err := w.api.PostMessageContext(w.ctx, "C1", text(what))
	return err
}

func TestRateLimitsInAllFormsOfSlack(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	w.Inject(slacktest.Fault{Endpoint: post, Trouble: slacktest.RateLimited(7 * time.Second), Times: 1})
	var limited *slackgo.RateLimitedError
	if err := w.posts("a"); !errors.As(err, &limited) || limited.RetryAfter != 7*time.Second {
		t.Errorf("got %#v", err)
	}
	w.Inject(slacktest.Fault{Endpoint: post, Trouble: slacktest.RateLimitedInBody(), Times: 1})
	wantError(t, w.posts("b"), "ratelimited")
	w.Inject(slacktest.Fault{Endpoint: post, Trouble: slacktest.RateLimitedWithoutHeader(), Times: 1})
	var status slackgo.StatusCodeError
	if err := w.posts("c"); !errors.As(err, &status) || status.Code != 429 {
		t.Errorf("got %#v", err)
	}
	if n := len(w.FromBot("C1")); n != 0 {
		t.Errorf("%d messages were posted all the same", n)
	}
}

func TestA5xxIsAStatusCodeError(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	w.Inject(slacktest.Fault{Trouble: slacktest.ServerError(503), Times: 1})
	var status slackgo.StatusCodeError
	if err := w.posts("a"); !errors.As(err, &status) || status.Code != 503 {
		t.Errorf("got %#v", err)
	}
}

func TestFaultsOfDownloads(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	file := w.delivered(t,
		w.alice.Posts("C1",
			"look",
			slacktest.WithFiles(
				slacktest.File{Name: "cat.png", Content: []byte("png")})).Deliveries...)[0].Message.Files[0]
	w.Inject(slacktest.Fault{Endpoint: slacktest.DownloadFile, Trouble: slacktest.ServerError(502), Times: 1})
	var status slackgo.StatusCodeError
	if err := w.api.GetFile(file.URLPrivate, io.Discard); !errors.As(err, &status) || status.Code != 502 {
		t.Errorf("got %#v", err)
	}
	if err := w.api.GetFile(file.URLPrivate, io.Discard); err != nil {
		t.Error(err)
	}
	if n := len(w.Calls(slacktest.DownloadFile)); n != 2 {
		t.Errorf("%d downloads in the log", n)
	}
}

func TestACutCallHasNoEffectAndALostAnswerHasAll(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	for _, c := range []struct {
		trouble slacktest.Trouble
		posted  int
		logged  string
	}{
		{slacktest.Cut(), 0, "(cut)"},
		{slacktest.AnswerLost(), 1, "(lost)"},
		{fakeserver.Garbled(), 2, "(garbled)"},
	} {
		w.Inject(slacktest.Fault{Endpoint: post, Trouble: c.trouble, Times: 1})
		err := w.posts("a")
		if err == nil {
			t.Errorf("%s: no error", c.logged)
		}
		if c.logged == "(lost)" && !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
		if c.logged == "(garbled)" && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("got %v", err)
		}
		calls := w.Calls(post)
		if got := calls[len(calls)-1].Error; got != c.logged || len(w.FromBot("C1")) != c.posted {
			t.Errorf("%s: logged %q, %d posted", c.logged, got, len(w.FromBot("C1")))
		}
	}
}

func TestAFaultSelectsItsCalls(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	tenth := w.Inject(slacktest.Fault{Endpoint: post, Trouble: slacktest.Refused("fatal_error"), Every: 10})
	for range 30 {
		_ = w.posts("a")
	}
	if tenth.Hits() != 3 || len(w.FromBot("C1")) != 27 {
		t.Errorf("%d hits, %d posted", tenth.Hits(), len(w.FromBot("C1")))
	}
	tenth.Lift()
	named := w.Inject(
		slacktest.Fault{
			Endpoint: post, Trouble: slacktest.MissesScope("chat:write"), When: func(c slacktest.Call) bool {
				return c.Args["text"] == "b"
			},
		})
	_ = w.posts("a")
	wantError(t, w.posts("b"), "missing_scope")
	named.Lift()
	half := w.Inject(slacktest.Fault{Endpoint: post, Trouble: slacktest.Refused("fatal_error"), Ratio: 0.5})
	for range 100 {
		_ = w.posts("c")
	}
	if half.Hits() < 30 || half.Hits() > 70 {
		t.Errorf("%d of 100", half.Hits())
	}
}

func TestACallIsHeldUntilItIsReleased(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	for _, trouble := range []slacktest.Trouble{slacktest.Held(), fakeserver.AnswerHeld()} {
		before := len(w.FromBot("C1"))
		held := w.Inject(slacktest.Fault{Endpoint: post, Trouble: trouble})
		var posting sync.WaitGroup
		posting.Go(func() {
			if err := w.posts("a"); err != nil {
				t.Error(err)
			}
		})
		if err := w.WaitFor(w.ctx, func(*slacktest.Server) bool { return held.Waiting() == 1 }); err != nil {
			t.Fatal(err)
		}
		t.Logf("%d posted while it is held", len(w.FromBot("C1"))-before)
		held.Lift()
		posting.Wait()
		if len(w.FromBot("C1")) != before+1 {
			t.Error("not posted once")
		}
	}
	gone := w.Inject(slacktest.Fault{Endpoint: post, Trouble: fakeserver.AnswerHeld()})
	ctx, stop := context.WithCancel(w.ctx)
	var posting sync.WaitGroup
	posting.Go(func() {
		if _, _, err := w.api.PostMessageContext(ctx, "C1", text("b")); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	if err := w.WaitFor(w.ctx, func(*slacktest.Server) bool { return gone.Waiting() == 1 }); err != nil {
		t.Fatal(err)
	}
	stop()
	posting.Wait()
}

func TestReadsLagBehindPosts(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	parent := w.alice.Posts("C1", "hello").TS
	count := func() int {
		read, _, _, err := w.api.GetConversationReplies(
			&slackgo.GetConversationRepliesParameters{ChannelID: "C1", Timestamp: parent})
		if err != nil {
			t.Fatal(err)
		}
		return len(read)
	}
	w.LagReads(2)
	if _, _, err := w.api.PostMessage("C1", text("a"), slackgo.MsgOptionTS(parent)); err != nil {
		t.Fatal(err)
	}
	if a, b, c := count(), count(), count(); a != 1 || b != 1 || c != 2 {
		t.Errorf("read %d, %d, %d", a, b, c)
	}
}

// silent is a TB that records the errors of the fake.
type silent struct {
	*testing.T
	said []string
	ends []func()
}

func (s *silent) Errorf(format string, _ ...any) { s.said = append(s.said, format) }
func (s *silent) Cleanup(end func())             { s.ends = append(s.ends, end) }

func TestAnUnknownMethodFailsTheTest(t *testing.T) {
	tb := &silent{T: t}
	s := slacktest.Start(tb, slacktest.Options{})
	client := newClient(t)
	response, err := client.Post(s.APIURL()+"chat.shout", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct{ Error string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Error != "unknown_method" {
		t.Errorf("%v %+v", err, answer)
	}
	for _, end := range tb.ends {
		end()
	}
	if len(tb.said) != 1 {
		t.Errorf("complaints: %v", tb.said)
	}
}
