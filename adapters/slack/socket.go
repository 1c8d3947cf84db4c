package slack

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"gatehouse/core"
)

// Numbers of one Socket Mode connection.
const (
	helloTime   = 10 * time.Second // from dialling to Slack's hello
	pingPeriod  = 30 * time.Second // between Slack's pings, before they have been seen
	minSilence  = time.Second      // the shortest silence that means something
	writeTime   = 5 * time.Second
	closeTime   = time.Second      // how long Slack may take to say goodbye
	graceTime   = 30 * time.Second // how long an old connection is heard beside the new one
	queueLength = 1024             // envelopes that wait for their commit in each queue: a burst of some seconds
	takers      = 8                // envelopes of different channels are committed beside each other
	maxPresses  = 32               // presses and commands under way: they wait for no channel, and not for each other
)

// socket is one connection.
type socket struct {
	slack  *Slack
	conn   *websocket.Conn
	accept core.Accept
	pulse  pulse
	life   context.Context // ends with the connection
	end    func()          // closes it
	gone   chan struct{}   // closed once nothing more can be heard

	queues  [takers]chan frame
	presses chan struct{}
	taking  sync.WaitGroup
	full    bool // something had to be left to Slack

	writing sync.Mutex
	leave   chan struct{} // closed once another connection is to take its place; the rest is set before and stands
	left    sync.Once
	fatal   error // why no other is to be opened
	crowded bool  // there were too many connections
}

// frame is what comes over a connection.
type frame struct {
	Type       string          `json:"type"`
	Reason     string          `json:"reason"`
	EnvelopeID string          `json:"envelope_id"`
	Payload    json.RawMessage `json:"payload"`
}

// dial opens a connection and waits for Slack's hello. The address is good for one use and is never logged.
func (s *Slack) dial(ctx context.Context, accept core.Accept) (*socket, error) {
	_, address, err := s.api.StartSocketModeContext(ctx)
	if err := s.fatalOr(faultOf(err)); err != nil {
		return nil, err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: helloTime, NetDialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext}
	conn, answer, err := dialer.DialContext(ctx, address, nil)
	if answer != nil && answer.Body != nil {
		answer.Body.Close()
	}
	if err != nil {
		return nil, core.Errorf(core.DeliveryLater, "Slack's socket could not be opened.")
	}
	k := &socket{slack: s, conn: conn, accept: accept, leave: make(chan struct{}), gone: make(chan struct{}), presses: make(chan struct{}, maxPresses)}
	k.life, k.end = context.WithCancel(ctx)
	context.AfterFunc(k.life, func() { conn.Close() })
	_ = conn.SetReadDeadline(time.Now().Add(helloTime))
	var hello frame
	if err := conn.ReadJSON(&hello); err != nil || hello.Type != "hello" {
		k.end()
		if hello.Type == "disconnect" {
			k.disconnected(hello.Reason)
			return nil, k.why()
		}
		return nil, core.Errorf(core.DeliveryLater, "Slack opened a socket and did not say hello.")
	}
	return k, nil
}

// fatalOr makes the refusals that no retry can mend end the platform.
func (s *Slack) fatalOr(err error) error {
	switch {
	case isRefusal(err, fatalOpen):
		return errSwitchedOff(err)
	case core.CategoryOf(err) == core.ProviderAuthentication, isRefusal(err, wrongToken):
		return core.Wrap(core.ProviderAuthentication, err, "Slack refuses SLACK_APP_TOKEN. Make a new app-level token with the scope connections:write, under Basic Information of your app.")
	case core.CategoryOf(err) == core.Unsupported:
		return core.Wrap(core.Unsupported, err, "SLACK_APP_TOKEN lacks the scope connections:write. Make a new app-level token, under Basic Information of your app.")
	}
	return err
}

func errSwitchedOff(err error) error {
	return core.Wrap(core.Unsupported, err, "Socket Mode is switched off for this app. Switch it on under Socket Mode of your app, or use SLACK_SIGNING_SECRET without SLACK_APP_TOKEN.")
}

// fatalOpen are Slack's words for an app that may open no sockets.
var fatalOpen = []string{"link_disabled", "socket_mode_not_enabled", "forbidden_team", "app_not_installed"}

// wrongToken is Slack's word for a token of another kind.
var wrongToken = []string{"not_allowed_token_type"}

// why tells what a disconnect before the hello means.
func (k *socket) why() error {
	if k.fatal != nil {
		return k.fatal
	}
	e := core.Errorf(core.DeliveryLater, "Slack closed the socket at once.")
	if k.crowded {
		e.RetryAfter = k.slack.jitter(crowdedWait)
	}
	return e
}

// run hears until the connection ends, or ctx does. The next connection is asked for as soon as this one can't be heard any more;
// what it brought is taken all the same.
func (k *socket) run(ctx context.Context) {
	k.slack.ears.opened(k)
	k.begin(ctx)
	k.read(ctx)
	close(k.gone)
	k.end()
	k.slack.ears.closed(k)
	k.replace(nil, false)
	for _, q := range k.queues {
		close(q)
	}
	k.taking.Wait()
}

// begin starts the takers. Envelopes of one channel are committed in the order they come.
func (k *socket) begin(ctx context.Context) {
	for i := range k.queues {
		queue := make(chan frame, queueLength)
		k.queues[i] = queue
		k.taking.Go(func() {
			for f := range queue {
				k.take(ctx, f)
			}
		})
	}
}

func (k *socket) read(ctx context.Context) {
	k.conn.SetPingHandler(func(data string) error {
		k.pulse.ping(time.Now())
		k.beat()
		return k.write(websocket.PongMessage, []byte(data))
	})
	for {
		k.beat()
		kind, data, err := k.conn.ReadMessage()
		if err != nil {
			k.ended(err)
			return
		}
		if kind == websocket.TextMessage {
			k.frame(ctx, data)
		}
	}
}

// beat says that the connection is alive now, and until when the next word has to come.
func (k *socket) beat() {
	_ = k.conn.SetReadDeadline(time.Now().Add(k.pulse.silence()))
}

func (k *socket) ended(err error) {
	var timeout net.Error
	switch {
	case k.life.Err() != nil: // we closed it
	case errors.As(err, &timeout) && timeout.Timeout():
		k.slack.Log.Warn("a socket to Slack has gone silent; another is opened", "silence", k.pulse.silence())
	default:
		k.slack.Log.Info("a socket to Slack has closed; another is opened")
	}
}

func (k *socket) frame(ctx context.Context, data []byte) {
	var f frame
	if err := json.Unmarshal(data, &f); err != nil {
		k.slack.Log.Warn("a word over the socket can't be read and is passed over", "bytes", len(data), "err", shape(err))
		return
	}
	switch {
	case f.Type == "disconnect":
		k.disconnected(f.Reason)
	case f.EnvelopeID != "" && f.Type == kindEvents:
		select {
		case k.queues[queueOf(f.Payload)] <- f:
		default:
			k.overfull()
		}
	case f.EnvelopeID != "":
		select {
		case k.presses <- struct{}{}:
			k.taking.Go(func() {
				defer func() { <-k.presses }()
				k.take(ctx, f)
			})
		default:
			k.overfull()
		}
	}
}

// overfull leaves something to Slack, which sends again what is not acknowledged. Nothing here may wait for a commit: who does not
// answer pings is taken for dead.
func (k *socket) overfull() {
	if !k.full {
		k.full = true
		k.slack.Log.Warn("more comes over the socket than can be stored; Slack is to send it again")
	}
}

// queueOf gives the queue of an envelope: one and the same for all of a channel.
func queueOf(payload []byte) int {
	var where struct {
		Event struct {
			Channel json.RawMessage `json:"channel"`
		} `json:"event"`
	}
	_ = json.Unmarshal(payload, &where) // what has no channel goes with others that have none
	h := fnv.New32a()
	h.Write(where.Event.Channel)
	return int(h.Sum32() % takers)
}

// disconnected hears why Slack is about to close the connection.
func (k *socket) disconnected(reason string) {
	switch reason {
	case "link_disabled":
		k.replace(errSwitchedOff(nil), false)
	case "too_many_websockets":
		k.slack.Log.Warn("Slack has too many sockets of this app open; the next one has to wait", "allowed", maxConnections)
		k.replace(nil, true)
	default:
		k.replace(nil, false)
	}
}

// replace asks for another connection in this one's place. This one is heard as long as it lasts.
// Only the first reason counts.
func (k *socket) replace(fatal error, crowded bool) {
	k.left.Do(func() {
		k.fatal, k.crowded = fatal, crowded
		close(k.leave)
	})
}

// retire gives the connection some time to deliver what it still has, now that there is another.
func (k *socket) retire() {
	k.slack.sleep(k.life, graceTime)
	k.hangUp()
}

// over reports that nothing more can be heard.
func (k *socket) over() bool {
	select {
	case <-k.gone:
		return true
	default:
		return false
	}
}

// hangUp closes the connection and waits for Slack to know it, so that the next one is not one too many.
func (k *socket) hangUp() {
	if k.write(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")) == nil {
		patience := time.NewTimer(closeTime)
		defer patience.Stop()
		select {
		case <-k.gone:
		case <-k.life.Done():
		case <-patience.C:
		}
	}
	k.end()
}

// take commits an envelope, then acknowledges it. What is not acknowledged comes again.
func (k *socket) take(ctx context.Context, f frame) {
	if ctx.Err() != nil {
		return
	}
	reply, v := k.slack.take(ctx, f.Type, f.Payload, k.accept)
	if v == unstored {
		return
	}
	ack := map[string]any{"envelope_id": f.EnvelopeID}
	if reply != nil {
		ack["payload"] = reply
	}
	text, _ := json.Marshal(ack)                                 // of texts alone: can't fail
	if err := k.write(websocket.TextMessage, text); err != nil { // it comes again, over another connection, and is known then
		k.slack.Log.Debug("an acknowledgement was not sent", "err", err)
	}
}

func (k *socket) write(kind int, data []byte) error {
	k.writing.Lock()
	defer k.writing.Unlock()
	if err := k.conn.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return err
	}
	return k.conn.WriteMessage(kind, data)
}

// minGaps is how many periods must have been seen before they are believed.
const minGaps = 3

// pulse learns how often Slack pings: two periods without a word mean that nobody is there.
type pulse struct {
	mu   sync.Mutex
	last time.Time
	gaps [4]time.Duration
	n    int
}

func (p *pulse) ping(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.last.IsZero() {
		p.gaps[p.n%len(p.gaps)] = now.Sub(p.last)
		p.n++
	}
	p.last = now
}

// silence is how long nothing may come: two periods, the longest of those seen lately.
func (p *pulse) silence() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.n < minGaps {
		return 2 * pingPeriod
	}
	longest := minSilence / 2
	for _, gap := range p.gaps[:min(p.n, len(p.gaps))] {
		longest = max(longest, gap)
	}
	return min(2*longest, 2*pingPeriod)
}
