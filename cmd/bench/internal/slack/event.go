package slack

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"

	"gatehouse/cmd/bench/internal/ledger"
	"gatehouse/cmd/bench/internal/mix"
	"gatehouse/cmd/bench/internal/wire"
	"gatehouse/core/agent"
)

// The workspace of the bench. Its channels are C0BENCH0, C0BENCH1 and so on, its people U0BENCH0 and so on.
const (
	team    = "T0BENCH"
	bot     = "U0BENCHBOT"
	botID   = "B0BENCH"
	app     = "A0BENCH"
	channel = "C0BENCH"
	person  = "U0BENCH"
)

// channels is over how many channels the threads are spread.
const channels = 10

// secrets are what Slack and a bot share.
type secrets struct{ bot, app, signing string }

func newSecrets() secrets {
	return secrets{bot: "xoxb-" + rand.Text(), app: "xapp-" + rand.Text(), signing: rand.Text()}
}

// world is what the events of a run are about. Times of messages begin when the run begins.
type world struct {
	began   time.Time
	threads int
	people  int
	long    int // the events after so many ask for an answer without delay
	mix     bool
}

// asks reports whether an event leads to a card.
func (w world) asks(n int) bool { return w.mix && mix.Asks(n) }

// place returns the channel and the thread that an event is in. One that leads to a card has a thread of its own: what
// is said in a thread where a turn waits for an approval is another kind of message.
func (w world) place(n int) (in, thread string) {
	if w.asks(n) {
		return channel + strconv.Itoa(n%channels), timestamp(w.began.Add(-time.Hour), n)
	}
	t := n % w.threads
	return channel + strconv.Itoa(t%channels), timestamp(w.began, t)
}

// timestamp is Slack's name of the nth message since a time.
func timestamp(began time.Time, n int) string {
	micros := began.UnixMicro() + int64(n)
	return fmt.Sprintf("%d.%06d", micros/1e6, micros%1e6)
}

// appendBody appends the nth event, a mention of the bot in a thread.
func (w world) appendBody(b []byte, n int) []byte {
	in, thread := w.place(n)
	words := ledger.Mark(n) + " how are you?"
	if w.mix {
		words = mix.Words(n)
	} else if n >= w.long {
		words = agent.AtOnce + " " + words
	}
	values := map[string]string{
		"CHANNEL": in, "THREAD": thread, "PERSON": person + strconv.Itoa(n%w.people), "NUMBER": strconv.Itoa(n),
		"TS":   timestamp(w.began, w.threads+n),
		"TIME": strconv.FormatInt(w.began.Unix(), 10), "WORDS": words,
	}
	for _, part := range mentionParts {
		b = append(append(b, part.text...), values[part.then]...)
	}
	return b
}

// mentionPart is a text of the mention, and the name of the value that follows it.
type mentionPart struct{ text, then string }

// mentionParts is the mention, taken apart once.
var mentionParts = func() (all []mentionPart) {
	rest := mention
	for {
		text, more, found := strings.Cut(rest, "{{")
		if !found {
			return append(all, mentionPart{text: text})
		}
		name, more, _ := strings.Cut(more, "}}")
		all = append(all, mentionPart{text: text, then: name})
		rest = more
	}
}()

// mention is an event with the fields that Slack sends.
const mention = `{"token":"verification-token-is-not-used","team_id":"` + team + `","context_team_id":"` + team +
	`","context_enterprise_id":null,"api_app_id":"` + app + `",` +
	`"event":{"user":"{{PERSON}}","type":"app_mention","ts":"{{TS}}",` +
	`"client_msg_id":"5f9c1d2e-0000-4000-8000-{{NUMBER}}","text":"<@` +
	bot + `> {{WORDS}}","team":"` + team + `",` +
	`"thread_ts":"{{THREAD}}","parent_user_id":"{{PERSON}}","blocks":[{"type":"rich_text",` +
	`"block_id":"b{{NUMBER}}","elements":[{"type":"rich_text_section",` +
	`"elements":[{"type":"user","user_id":"` + bot +
	`"},{"type":"text","text":" {{WORDS}}"}]}]}],"channel":"{{CHANNEL}}","event_ts":"{{TS}}"},` +
	`"type":"event_callback",` +
	`"event_id":"Ev0BENCH{{NUMBER}}","event_time":{{TIME}},"authorizations":[{"enterprise_id":null,"team_id":"` + team +
	`","user_id":"` + bot + `","is_bot":true,` +
	`"is_enterprise_install":false}],"is_ext_shared_channel":false,"event_context":"4-bench{{NUMBER}}"}`

// signer signs requests as Slack does. It is for one goroutine.
type signer struct {
	mac     hash.Hash
	sum     []byte
	request []byte
}

func newSigner(secret string) *signer { return &signer{mac: hmac.New(sha256.New, []byte(secret))} }

// sign returns a signed request; it is valid until the next one. again marks it as a repetition.
func (s *signer) sign(host, path string, body []byte, again bool) []byte {
	header := s.header(body)
	if again {
		header += "X-Slack-Retry-Num: 1\r\nX-Slack-Retry-Reason: http_timeout\r\n"
	}
	s.request = wire.AppendRequest(s.request[:0], host, path, header, body)
	return s.request
}

// header is the lines that sign a body.
func (s *signer) header(body []byte) string {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	s.mac.Reset()
	s.mac.Write([]byte("v0:" + now + ":"))
	s.mac.Write(body)
	s.sum = s.mac.Sum(s.sum[:0])
	return "X-Slack-Request-Timestamp: " + now + "\r\nX-Slack-Signature: v0=" + hex.EncodeToString(s.sum) + "\r\n"
}
