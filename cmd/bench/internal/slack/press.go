package slack

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"time"

	"gatehouse/cmd/bench/internal/wire"
)

// Approver is the person who presses the cards.
const Approver = person + "BOSS"

// approval returns the button by which the card of an event is approved; nil if the message is no card.
func (s *Slack) approval(n int, body []byte) map[string]any {
	if !s.world.asks(n) || len(s.to) == 0 {
		return nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil
	}
	for _, name := range []string{"blocks", "attachments"} {
		var parts any
		if json.Unmarshal([]byte(form.Get(name)), &parts) != nil {
			continue
		}
		if button := primary(parts); button != nil {
			return button
		}
	}
	return nil
}

// primary finds the first primary button that carries a value, however deep it is.
func primary(part any) map[string]any {
	switch part := part.(type) {
	case []any:
		for _, one := range part {
			if found := primary(one); found != nil {
				return found
			}
		}
	case map[string]any:
		if value, _ := part["value"].(string); value != "" && part["type"] == "button" && part["style"] == "primary" {
			return part
		}
		for _, one := range part {
			if found := primary(one); found != nil {
				return found
			}
		}
	}
	return nil
}

// pressPause is how long after a card it is pressed: the bot has read by then that the card is posted.
const pressPause = 10 * time.Millisecond

// pressSoon presses a button of a card.
func (s *Slack) pressSoon(n int, ts string, button map[string]any) {
	s.presses.Go(func() {
		time.Sleep(pressPause)
		for range maxPresses {
			if s.press(n, ts, button) == nil {
				return
			}
			s.resent.Add(1)
			time.Sleep(retryPause)
		}
	})
}

// maxPresses is how often a button is pressed that the bot does not acknowledge. Then its event stays without a
// reply, and counts as lost.
const maxPresses = 50

func (s *Slack) press(n int, ts string, button map[string]any) error {
	to := s.to[n%len(s.to)]
	in, thread := s.world.place(n)
	payload, _ := json.Marshal(map[string]any{ // texts and JSON that was read: can't fail
		"type": "block_actions", "api_app_id": app, "token": "verification-token-is-not-used",
		"trigger_id": ts + ".bench",
		"team":       map[string]any{"id": team, "domain": "bench"}, "enterprise": nil, "is_enterprise_install": false,
		"user": map[string]any{"id": Approver, "username": "boss", "name": "boss", "team_id": team},
		"container": map[string]any{
			"type": "message", "message_ts": ts, "channel_id": in, "is_ephemeral": false, "thread_ts": thread,
		},
		"channel": map[string]any{"id": in, "name": "bench"},
		"message": map[string]any{
			"type": "message", "ts": ts, "thread_ts": thread, "user": bot, "bot_id": botID, "text": "",
		},
		"response_url": "http://" + s.server.Address() + "/actions/" + ts,
		"state":        map[string]any{"values": map[string]any{}}, "actions": []any{pressed(button, ts)},
	})
	body := []byte(url.Values{"payload": {string(payload)}}.Encode())
	client := &wire.Client{Address: to.Host}
	defer client.Close()
	at := path.Join(path.Dir(to.Path), "interactions")
	status, err := client.Post(wire.AppendForm(nil, to.Host, at, newSigner(s.secrets.signing).header(body), body))
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the bot answers %d %s", status, http.StatusText(status))
	}
	return err
}

// pressed is a button as Slack sends it when it is pressed.
func pressed(button map[string]any, ts string) map[string]any {
	element := maps.Clone(button)
	element["block_id"], element["action_ts"] = "bench", ts
	return element
}
