package discordtest_test

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"gatehouse/adapters/discord/discordtest"
)

// socket is a plain gateway client.
type socket struct {
	t    *testing.T
	conn *websocket.Conn
}

// packet is a received payload.
type packet struct {
	Op int             `json:"op"`
	T  string          `json:"t"`
	S  int64           `json:"s"`
	D  json.RawMessage `json:"d"`
}

type fields = map[string]any

// dial opens a socket and reads the hello.
func (w *rig) dial(t *testing.T, base string) *socket {
	t.Helper()
	if base == "" {
		var g struct{ URL string }
		w.get(t, "/gateway", &g)
		base = g.URL
	}
	conn, answer, err := websocket.DefaultDialer.DialContext(w.ctx, base+"/?v=10&encoding=json", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	k := &socket{t: t, conn: conn}
	if hello := k.next(); hello.Op != 10 || !strings.Contains(string(hello.D), "heartbeat_interval") {
		t.Fatalf("the hello is %+v", hello)
	}
	return k
}

func (k *socket) send(op int, d any) {
	k.t.Helper()
	if err := k.conn.WriteJSON(fields{"op": op, "d": d}); err != nil {
		k.t.Fatal(err)
	}
}

func (k *socket) next() packet {
	k.t.Helper()
	p, err := k.read()
	if err != nil {
		k.t.Fatal(err)
	}
	return p
}

func (k *socket) read() (packet, error) {
	_ = k.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	kind, data, err := k.conn.ReadMessage()
	if err != nil {
		return packet{}, err
	}
	if kind == websocket.BinaryMessage {
		z, err := zlib.NewReader(bytes.NewReader(data))
		if err != nil {
			return packet{}, err
		}
		if data, err = io.ReadAll(z); err != nil {
			return packet{}, err
		}
	}
	var p packet
	return p, json.Unmarshal(data, &p)
}

// until reads up to an event with this name.
func (k *socket) until(name string) packet {
	k.t.Helper()
	for {
		if p := k.next(); p.T == name {
			return p
		}
	}
}

// ends reads until the connection is closed and returns the close code.
func (k *socket) ends() int {
	k.t.Helper()
	for {
		_, err := k.read()
		var withoutContent *websocket.CloseError
		switch {
		case errors.As(err, &withoutContent):
			return withoutContent.Code
		case err != nil:
			return 0
		}
	}
}

const allIntents = 1<<0 | 1<<9 | 1<<10 | 1<<12 | 1<<13 | 1<<15

// ready identifies and reads READY.
func (k *socket) ready(token string, more fields) (session, url string) {
	k.t.Helper()
	d := fields{"token": token, "intents": allIntents, "properties": fields{"os": "linux"}}
	for key, value := range more {
		d[key] = value
	}
	k.send(2, d)
	p := k.next()
	var r struct {
		SessionID string `json:"session_id"`
		URL       string `json:"resume_gateway_url"`
	}
	if p.T != "READY" || json.Unmarshal(p.D, &r) != nil {
		k.t.Fatalf("in place of READY came %+v", p)
	}
	return r.SessionID, r.URL
}

func (w *rig) get(t *testing.T, path string, into any) int {
	t.Helper()
	return w.call(t, http.MethodGet, path, nil, into)
}

// call makes a REST call.
func (w *rig) call(t *testing.T, method, path string, body, into any) int {
	t.Helper()
	var data []byte
	if body != nil {
		data, _ = json.Marshal(body)
	}
	r, err := http.NewRequestWithContext(w.ctx, method, w.APIURL()+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bot "+w.BotToken())
	r.Header.Set("Content-Type", "application/json")
	answer, err := w.web.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal(got, into); err != nil {
			t.Fatalf("%s %s: %v in %s", method, path, err, got)
		}
	}
	return answer.StatusCode
}

func TestInvalidIdentifiesAreRefused(t *testing.T) {
	cases := map[string]struct {
		o    discordtest.Options
		more fields
		code int
	}{
		"a bad token":               {more: fields{"token": "other"}, code: 4004},
		"a shard out of range":      {more: fields{"shard": []int{2, 2}}, code: 4010},
		"too few shards":            {o: discordtest.Options{RequireShards: 2}, code: 4011},
		"an intent that is none":    {more: fields{"intents": 1 << 30}, code: 4013},
		"an intent not granted":     {o: discordtest.Options{Denied: discordtest.IntentMessageContent}, code: 4014},
		"a body that is no object":  {more: nil, code: 4002},
		"a payload that is too big": {more: fields{"properties": strings.Repeat("x", 5000)}, code: 4002},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, tc.o)
			k := w.dial(t, "")
			d := fields{"token": w.BotToken(), "intents": allIntents}
			for key, value := range tc.more {
				d[key] = value
			}
			if tc.code == 4002 && tc.more == nil {
				k.send(2, "?")
			} else {
				k.send(2, d)
			}
			if got := k.ends(); got != tc.code {
				t.Errorf("closed with %d, want %d", got, tc.code)
			}
		})
	}
}

func TestIdentifyRateLimit(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	w := newRig(t, discordtest.Options{Now: clock.Now})
	w.dial(t, "").ready(w.BotToken(), nil)
	k := w.dial(t, "")
	k.send(2, fields{"token": w.BotToken(), "intents": 0})
	if p := k.next(); p.Op != 9 || string(p.D) != "false" {
		t.Errorf("came %+v", p)
	}
	clock.Advance(5 * time.Second)
	k.ready(w.BotToken(), nil)
	if b := w.Budget(); b.Remaining != 997 || b.ResetAfter != 24*time.Hour-5*time.Second {
		t.Errorf("the budget is %+v", b)
	}
	clock.Advance(24 * time.Hour)
	var g struct {
		Limit struct {
			Total, Remaining int
			ResetAfter       int `json:"reset_after"`
		} `json:"session_start_limit"`
	}
	if w.get(t, "/gateway/bot", &g); g.Limit.Total != 1000 || g.Limit.Remaining != 1000 || g.Limit.ResetAfter != 0 {
		t.Errorf("the next day has %+v", g)
	}
}

func TestTooManyIdentifiesResetTheToken(t *testing.T) {
	w := newRig(t, discordtest.Options{IdentifyBudget: 2, IdentifyEvery: -1, AllowPenalties: true})
	first := w.dial(t, "")
	first.ready(w.BotToken(), nil)
	w.dial(t, "").ready(w.BotToken(), nil)
	k := w.dial(t, "")
	k.send(2, fields{"token": w.BotToken(), "intents": 0})
	if a, b := k.ends(), first.ends(); a != 4004 || b != 4004 {
		t.Errorf("closed with %d and %d", a, b)
	}
	if w.get(t, "/users/@me", nil) != 401 || len(w.Penalties()) != 1 {
		t.Errorf("the penalties are %q", w.Penalties())
	}
}

func TestResumeReplaysMissedEvents(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	k := w.dial(t, "")
	session, url := k.ready(w.BotToken(), nil)
	seen := k.until("GUILD_CREATE").S
	w.Open()[0].Reset()
	w.alice.Posts(general, "one")
	w.alice.Says("two")
	k = w.dial(t, url)
	k.send(6, fields{"token": w.BotToken(), "session_id": session, "seq": seen})
	one, two, resumed := k.next(), k.next(), k.next()
	if one.T != "MESSAGE_CREATE" || one.S != seen+1 || !strings.Contains(string(two.D), "two") ||
		resumed.T != "RESUMED" || resumed.S != seen+3 {
		t.Errorf("came %+v, %+v, %+v", one, two, resumed)
	}
	w.ReplayMore(2)
	w.Open()[0].Reset()
	k = w.dial(t, url)
	k.send(6, fields{"token": w.BotToken(), "session_id": session, "seq": resumed.S})
	if again := k.next(); again.S != two.S {
		t.Errorf("replayed from %d on", again.S)
	}
}

func TestSessionEnds(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	ends := map[string]func(*rig, *socket){
		"by a normal close": func(_ *rig, k *socket) {
			_ = k.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1000, ""))
		},
		"by going away": func(_ *rig, k *socket) {
			_ = k.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(1001, ""))
		},
		"by its age": func(w *rig, _ *socket) {
			w.Open()[0].Reset()
			clock.Advance(5 * time.Minute)
		},
		"when forgotten": func(w *rig, _ *socket) { w.ForgetSessions(); w.Open()[0].Reset() },
		"when invalid":   func(w *rig, _ *socket) { w.Open()[0].Invalidate(false) },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, discordtest.Options{Now: clock.Now})
			k := w.dial(t, "")
			session, url := k.ready(w.BotToken(), nil)
			end(w, k)
			if err := w.WaitFor(w.ctx, func(*discordtest.Server) bool { return w.Sessions() == 0 }); err != nil {
				t.Fatal(err)
			}
			k = w.dial(t, url)
			k.send(6, fields{"token": w.BotToken(), "session_id": session, "seq": 1})
			if p := k.next(); p.Op != 9 || string(p.D) != "false" {
				t.Errorf("came %+v", p)
			}
		})
	}
	t.Run("not by another close", func(t *testing.T) {
		w := newRig(t, discordtest.Options{})
		k := w.dial(t, "")
		session, url := k.ready(w.BotToken(), nil)
		_ = k.conn.WriteMessage(websocket.CloseMessage, websocket.FormatCloseMessage(4900, ""))
		if err := w.WaitForSessions(w.ctx, 0); err != nil {
			t.Fatal(err)
		}
		k = w.dial(t, url)
		k.send(6, fields{"token": w.BotToken(), "session_id": session, "seq": 2})
		if p := k.next(); p.T != "RESUMED" {
			t.Errorf("came %+v", p)
		}
	})
}

func TestHeartbeatsAndReconnectRequests(t *testing.T) {
	w := newRig(t, discordtest.Options{IdentifyEvery: -1})
	k := w.dial(t, "")
	k.send(1, nil)
	if p := k.next(); p.Op != 11 {
		t.Errorf("came %+v", p)
	}
	k.ready(w.BotToken(), nil)
	k.until("GUILD_CREATE")
	c := w.Open()[0]
	c.AskHeartbeat()
	c.AskReconnect()
	c.Invalidate(true)
	c.SendRaw([]byte(`{"op":0,"t":"MESSAGE_CREATE","s":9,"d":7}`))
	for _, op := range []int{1, 7, 9, 0} {
		if p := k.next(); p.Op != op {
			t.Errorf("came %+v, want op %d", p, op)
		}
	}
	c.WithholdAcks()
	k.send(1, 2)
	w.alice.Posts(general, "still here")
	if p := k.next(); p.T != "MESSAGE_CREATE" {
		t.Errorf("came %+v", p)
	}
	if err := w.WaitFor(w.ctx, func(*discordtest.Server) bool { return len(c.State().Beats) == 2 }); err != nil {
		t.Fatal(err)
	}
	if s := c.State(); len(s.Beats) != 2 || s.Acks != 1 || !s.Open {
		t.Errorf("the connection is %+v", s)
	}
	c.Invalidate(false)
	if p := k.next(); p.Op != 9 || string(p.D) != "false" {
		t.Errorf("came %+v", p)
	}
	k.ready(w.BotToken(), nil) // anew, on the same connection
	k.until("GUILD_CREATE")
	c.GoSilent()
	w.alice.Posts(general, "into the void")
	c.Close(4000, "why not")
	if code := k.ends(); code != 4000 {
		t.Errorf("closed with %d", code)
	}
}

func TestInvalidGatewayPayloads(t *testing.T) {
	cases := map[string]struct {
		do   func(*rig, *socket)
		code int
	}{
		"before identify": {func(_ *rig, k *socket) { k.send(3, fields{}) }, 4003},
		"twice": {func(w *rig, k *socket) {
			k.ready(w.BotToken(), nil)
			k.send(2, fields{"token": w.BotToken()})
		}, 4005},
		"unknown op": {func(_ *rig, k *socket) { k.send(99, nil) }, 4001},
		"no json":    {func(_ *rig, k *socket) { _ = k.conn.WriteMessage(websocket.TextMessage, []byte("{")) }, 4002},
		"bad seq": {func(w *rig, k *socket) {
			session, _ := k.ready(w.BotToken(), nil)
			other := w.dial(k.t, "")
			other.send(6, fields{"token": w.BotToken(), "session_id": session, "seq": 1000})
			k.conn = other.conn
		}, 4007},
		"too fast": {func(_ *rig, k *socket) {
			for range 121 {
				k.send(1, nil)
			}
		}, 4008},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, discordtest.Options{})
			k := w.dial(t, "")
			tc.do(w, k)
			if got := k.ends(); got != tc.code {
				t.Errorf("closed with %d, want %d", got, tc.code)
			}
		})
	}
	t.Run("a version that is none", func(t *testing.T) {
		w := newRig(t, discordtest.Options{})
		conn, answer, err := websocket.DefaultDialer.DialContext(w.ctx,
			strings.Replace(w.URL(), "http", "ws", 1)+"/?v=5", nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		defer func() { _ = conn.Close() }()
		if got := (&socket{t: t, conn: conn}).ends(); got != 4012 {
			t.Errorf("closed with %d", got)
		}
	})
}

func TestGuildsOfAShard(t *testing.T) {
	w := newRig(t, discordtest.Options{IdentifyEvery: -1})
	w.AddGuild(discordtest.Guild{ID: "4194304", Name: "odd", Members: []string{"1001"}}) // 1 << 22
	w.AddChannel(discordtest.Channel{ID: "77", Guild: "4194304", Name: "odd"})
	home := (uint64(2000000000000000001) >> 22) % 2
	var k [2]*socket
	for id := range k {
		k[id] = w.dial(t, "")
		k[id].ready(w.BotToken(), fields{"shard": []int{id, 2}})
	}
	w.alice.Posts(general, "home")
	w.alice.Posts("77", "odd")
	w.alice.Says("direct")
	want := map[int][]string{0: {"direct"}, 1: {"odd"}}
	want[int(home)] = append([]string{"home"}, want[int(home)]...)
	for id, texts := range want {
		for _, text := range texts {
			if p := k[id].until("MESSAGE_CREATE"); !strings.Contains(string(p.D), `"`+text+`"`) {
				t.Errorf("shard %d heard %s, want %q", id, p.D, text)
			}
		}
	}
}

func TestMessagesWithoutTheContentIntent(t *testing.T) {
	w := newRig(t, discordtest.Options{Denied: discordtest.IntentMessageContent})
	k := w.dial(t, "")
	k.ready(w.BotToken(), fields{"intents": allIntents &^ discordtest.IntentMessageContent})
	bare := w.alice.Posts(general,
		"for nobody", discordtest.WithFiles(discordtest.Attachment{Name: "a.png", Data: []byte("png")}))
	w.alice.Posts(general, "for "+w.MentionOfBot())
	w.alice.Says("direct")
	w.alice.Posts(general, "for <@&"+w.RoleOfBot(guildID)+">")
	read := func() (content string, files int, roles []string) {
		var m struct {
			Content     string
			Attachments []any
			Roles       []string `json:"mention_roles"`
		}
		if err := json.Unmarshal(k.until("MESSAGE_CREATE").D, &m); err != nil {
			t.Fatal(err)
		}
		return m.Content, len(m.Attachments), m.Roles
	}
	if content, files, _ := read(); content != "" || files != 0 {
		t.Errorf("the message came as %q with %d files", content, files)
	}
	if content, _, _ := read(); content != "for "+w.MentionOfBot() {
		t.Errorf("the mention came as %q", content)
	}
	if content, _, _ := read(); content != "direct" {
		t.Errorf("the DM came as %q", content)
	}
	if content, _, roles := read(); content != "" || len(roles) != 1 {
		t.Errorf("the mention of the role came as %q with %q", content, roles)
	}
	var m struct{ Content string }
	if w.get(t, "/channels/"+general+"/messages/"+bare.ID, &m); m.Content != "" {
		t.Errorf("it reads as %q", m.Content)
	}
}

func TestRefusedAndSilentConnections(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	w.RefuseConnections(true)
	url := strings.Replace(w.URL(), "http", "ws", 1) + "/?v=10"
	_, answer, err := websocket.DefaultDialer.DialContext(w.ctx, url, nil)
	if err == nil {
		t.Fatal("it dialled")
	}
	_ = answer.Body.Close()
	if answer.StatusCode != 503 {
		t.Errorf("refused with %d", answer.StatusCode)
	}
	w.RefuseConnections(false)
	w.NewConnectionsSilent(true)
	conn, answer, err := websocket.DefaultDialer.DialContext(w.ctx, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	defer func() { _ = conn.Close() }()
	_ = conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	if _, data, err := conn.ReadMessage(); err == nil {
		t.Errorf("came %s", data)
	}
}
