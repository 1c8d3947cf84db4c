package slacktest_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	slackgo "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"gatehouse/adapters/slack/slacktest"
)

// wire is a bare end of a socket.
type wire struct {
	*websocket.Conn
	t *testing.T
}

// connect opens a socket without waiting for its hello.
func (w *workspace) connect(t *testing.T) (conn *websocket.Conn, url string) {
	t.Helper()
	_, url, err := w.api.StartSocketModeContext(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn, response, err := websocket.DefaultDialer.DialContext(w.ctx, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	return conn, url
}

func (w *workspace) dial(t *testing.T) *wire {
	t.Helper()
	conn, _ := w.connect(t)
	k := &wire{Conn: conn, t: t}
	if hello := k.next(); hello.Type != "hello" || hello.NumConnections == 0 ||
		hello.ConnectionInfo.AppID != w.AppID() {
		t.Fatalf("%+v", hello)
	}
	return k
}

func (k *wire) next() socketmode.Request {
	k.t.Helper()
	_ = k.SetReadDeadline(time.Now().Add(20 * time.Second))
	var frame socketmode.Request
	if err := k.ReadJSON(&frame); err != nil {
		k.t.Fatal(err)
	}
	return frame
}

func (k *wire) ack(id string) {
	k.t.Helper()
	if err := k.WriteJSON(socketmode.Response{EnvelopeID: id}); err != nil {
		k.t.Fatal(err)
	}
}

func eventID(t *testing.T, frame socketmode.Request) string {
	t.Helper()
	var payload struct {
		EventID string `json:"event_id"`
	}
	if err := json.Unmarshal(frame.Payload, &payload); err != nil {
		t.Fatal(err)
	}
	return payload.EventID
}

func TestUnacknowledgedEnvelopesAreRetried(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{AckWithin: 50 * time.Millisecond})
	k := w.dial(t)
	d := w.alice.Says("hello").Deliveries[0]
	first := k.next()
	again := k.next()
	if first.RetryAttempt != 0 || again.RetryAttempt != 1 || again.RetryReason != "timeout" ||
		eventID(t, first) != eventID(t, again) || first.EnvelopeID == again.EnvelopeID {
		t.Errorf("%+v then %+v", first, again)
	}
	k.ack(again.EnvelopeID)
	if err := d.Wait(w.ctx); err != nil {
		t.Error(err)
	}
	k.ack("nonsense")
	if err := w.WaitFor(w.ctx, func(*slacktest.Server) bool { return len(w.StrayAcks()) > 0 }); err != nil {
		t.Error(err)
	}
}

func TestEventsSurviveABrokenSocket(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	k := w.dial(t)
	d := w.alice.Says("hello").Deliveries[0]
	first := k.next()
	w.Sockets()[0].Reset()
	if _, _, err := k.ReadMessage(); err == nil {
		t.Fatal("the socket should be broken")
	}
	k = w.dial(t)
	again := k.next()
	if again.RetryAttempt != 1 || eventID(t, again) != eventID(t, first) {
		t.Errorf("%+v", again)
	}
	k.ack(again.EnvelopeID)
	if err := d.Wait(w.ctx); err != nil {
		t.Error(err)
	}
	state := w.Sockets()[0].State()
	if state.Open || state.Ended != "reset" || w.OpenSockets() != 1 {
		t.Errorf("%+v", state)
	}
}

func TestASilentSocketDropsEventsUntilAnotherOpens(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{AckWithin: 50 * time.Millisecond, PingEvery: 10 * time.Millisecond})
	pings := make(chan struct{}, 1000)
	silent := w.dial(t)
	silent.SetPingHandler(func(string) error {
		pings <- struct{}{}
		return nil
	})
	reading := make(chan error, 1)
	go func() {
		_, _, err := silent.ReadMessage()
		reading <- err
	}()
	<-pings
	w.Sockets()[0].GoSilent()
	d := w.alice.Says("hello").Deliveries[0]
	if err := w.WaitFor(w.ctx, func(*slacktest.Server) bool { return len(d.Attempts()) == 1 }); err != nil {
		t.Fatal(err)
	}
	k := w.dial(t)
	frame := k.next()
	k.ack(frame.EnvelopeID)
	if err := d.Wait(w.ctx); err != nil || frame.RetryAttempt != 1 {
		t.Error(err, frame)
	}
	_ = silent.Close()
	if err := <-reading; err == nil {
		t.Error("the silent socket received something")
	}
}

func TestDisconnectFramesHaveAReason(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	for _, reason := range []string{"warning", "refresh_requested", "link_disabled"} {
		k := w.dial(t)
		all := w.Sockets()
		socket := all[len(all)-1]
		socket.Disconnect(reason)
		if frame := k.next(); frame.Type != "disconnect" || frame.Reason != reason {
			t.Errorf("%+v", frame)
		}
		if open := socket.State().Open; open != (reason != "link_disabled") {
			t.Errorf("%s: open %v", reason, open)
		}
		socket.Close()
		if _, _, err := k.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestSocketLimitAndTicketsAreEnforced(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	for range slacktest.MaxSockets {
		w.dial(t)
	}
	conn, url := w.connect(t)
	var frame socketmode.Request
	if err := conn.ReadJSON(&frame); err != nil || frame.Reason != "too_many_websockets" {
		t.Errorf("%v %+v", err, frame)
	}
	_, response, err := websocket.DefaultDialer.DialContext(w.ctx, url, nil)
	if err == nil {
		t.Fatal("a ticket opened two sockets")
	}
	_ = response.Body.Close()
}

func TestOpeningASocketCanBeRefused(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	w.Inject(
		slacktest.Fault{Endpoint: "apps.connections.open", Trouble: slacktest.RateLimited(3 * time.Second), Times: 1})
	_, _, err := w.api.StartSocketModeContext(w.ctx)
	var limited *slackgo.RateLimitedError
	if !errors.As(err, &limited) {
		t.Errorf("got %#v", err)
	}
	w.Inject(slacktest.Fault{Endpoint: slacktest.DialSocket, Trouble: slacktest.ServerError(503), Times: 1})
	_, url, err := w.api.StartSocketModeContext(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, response, err := websocket.DefaultDialer.DialContext(w.ctx, url, nil)
	if err == nil || response.StatusCode != 503 {
		t.Errorf("%v", err)
	}
	_ = response.Body.Close()
	other := slackgo.New(w.BotToken(), slackgo.OptionAPIURL(w.APIURL()), slackgo.OptionAppLevelToken(w.BotToken()),
		slackgo.OptionHTTPClient(newClient(t)))
	_, _, err = other.StartSocketModeContext(w.ctx)
	wantError(t, err, "not_allowed_token_type")
}
