package discord

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/load"
	"gatehouse/cmd/bench/internal/wire"
)

// Slash commands, /ask, are posted to a bot that takes interactions by HTTP. Discord posts each once; here one that was
// not acknowledged is posted again, so that none is lost while the bot is away.

// original is the answer to a command: announced by the acknowledgement, and given by a later edit.
type original struct {
	id       int64
	in       string
	answered bool
	json     []byte
}

// loading is the flag of an answer that is announced and not given yet.
const loading = 128

// retryPause is how long a sender waits before it posts a command again.
const retryPause = 20 * time.Millisecond

// sendCommands sends the events as commands.
func (d *Discord) sendCommands(ctx context.Context, first, end int, sent func(n int)) error {
	return load.Send(ctx, d.plan, d.ledger, first, end, sent, func() (load.Deliver, func()) {
		to := d.to[int(d.turn.Add(1))%len(d.to)]
		client := &wire.Client{Address: to.Host}
		return func(ctx context.Context, n int, again bool) error { return d.deliver(ctx, client, to, n) }, client.Close
	})
}

// deliver posts a command until it is acknowledged.
func (d *Discord) deliver(ctx context.Context, client *wire.Client, to *url.URL, n int) error {
	body := d.command(n)
	for {
		now := strconv.FormatInt(time.Now().Unix(), 10)
		header := "X-Signature-Timestamp: " + now + "\r\nX-Signature-Ed25519: " +
			hex.EncodeToString(ed25519.Sign(d.key, append([]byte(now), body...))) + "\r\n"
		status, err := client.Post(wire.AppendRequest(nil, to.Host, to.Path, header, body))
		if err == nil && status == http.StatusOK {
			d.ledger.Acked(n)
			return nil
		}
		if err == nil {
			err = fmt.Errorf("the bot answers %d %s", status, http.StatusText(status))
		}
		d.resent.Add(1)
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the last attempt: %w", ctx.Err(), err)
		case <-time.After(retryPause):
		}
	}
}

// command makes the nth event, or returns it if it was made before, and announces its answer.
func (d *Discord) command(n int) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	if made, known := d.commands[n]; known {
		return made
	}
	id, in, token := d.newID(), d.place(n), "bench-"+strconv.Itoa(n)
	who := strconv.FormatInt(int64(person+n%d.plan.Senders), 10)
	d.commands[n] = fmt.Appendf(nil,
		`{"id":"%d","application_id":"%s","type":2,"token":"%s","version":1,"locale":"en-US",`+
			`"guild_locale":"en-US","context":0,`+
			`"entitlements":[],"attachment_size_limit":10485760,"authorizing_integration_owners":{"0":"%s"},`+
			`"guild_id":"%s","guild":{"id":"%s"},`+
			`"channel_id":"%s","channel":%s,"app_permissions":"%s","member":{"user":{"id":"%s",`+
			`"username":"ann%s","discriminator":"0","global_name":"Ann",`+
			`"avatar":null},"roles":[],"joined_at":"2024-01-01T00:00:00+00:00","permissions":"%s","deaf":false,`+
			`"mute":false,"flags":0},`+
			`"data":{"id":"%d","name":"ask","type":1,"options":[{"name":"text","type":3,"value":"%s how are you?"}]}}`,
		id, application, token, guild, guild, guild, in, channelJSON(in), everything, who, who, everything, channel-1,
		ledger.Mark(n))
	o := &original{id: d.newID(), in: in}
	o.json = fmt.Appendf(nil,
		`{"id":"%d","channel_id":"%s","author":%s,"content":"","flags":%d,"components":[],"type":20}`, o.id, in,
		botUser, loading)
	d.originals[token] = o
	return d.commands[n]
}

// webhook answers a call for the answer to a command: METHOD /webhooks/APPLICATION/TOKEN/messages/@original. The caller
// holds the lock.
func (d *Discord) webhook(method string, parts []string, body []byte) []byte {
	notFound := wire.Answer(http.StatusNotFound, `{"message":"Unknown Webhook","code":10015}`)
	if len(parts) < 5 || parts[4] != "@original" {
		return notFound
	}
	o, known := d.originals[parts[2]]
	switch {
	case !known:
		return notFound
	case method == http.MethodGet:
		return wire.Answer(http.StatusOK, string(o.json))
	}
	if d.limits() {
		return limited
	}
	var m struct {
		Content    string          `json:"content"`
		Flags      int             `json:"flags"`
		Components json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return wire.Answer(http.StatusBadRequest, `{"message":"The request body contains invalid JSON.","code":50109}`)
	}
	if n, marked := ledger.Marked(body); !marked || d.place(n) != o.in ||
		strconv.Itoa(n) != strings.TrimPrefix(parts[2], "bench-") {
		d.stray(body)
	} else if !o.answered { // the same edit twice changes nothing
		d.ledger.Answered(n)
	}
	if len(m.Components) == 0 {
		m.Components = json.RawMessage("[]")
	}
	content, _ := json.Marshal(m.Content) // texts can always be marshalled
	o.answered = true
	o.json = fmt.Appendf(nil,
		`{"id":"%d","channel_id":"%s","author":%s,"content":%s,"flags":%d,"components":%s,"type":20}`, o.id, o.in,
		botUser, content, m.Flags, m.Components)
	return wire.Answer(http.StatusOK, string(o.json))
}
