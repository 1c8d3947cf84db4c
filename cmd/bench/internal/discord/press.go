package discord

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"gatehouse/cmd/bench/internal/mix"
)

// Approver is the person who presses the cards.
const Approver = "100000000000009999"

// pressToken begins the tokens of presses.
const pressToken = "press-"

// asks reports whether an event leads to a card.
func (d *Discord) asks(n int) bool { return d.plan.Mix && mix.Asks(n) }

// approval returns the id of the button by which a card is approved, which is green; "" if there is none.
func approval(components json.RawMessage) string {
	var all any
	if json.Unmarshal(components, &all) != nil {
		return ""
	}
	return green(all)
}

// green finds the first green button, however deep it is.
func green(part any) string {
	const button, success = 2.0, 3.0
	switch part := part.(type) {
	case []any:
		for _, one := range part {
			if found := green(one); found != "" {
				return found
			}
		}
	case map[string]any:
		if id, _ := part["custom_id"].(string); id != "" && part["type"] == button && part["style"] == success {
			return id
		}
		for _, one := range part {
			if found := green(one); found != "" {
				return found
			}
		}
	}
	return ""
}

// pressPause is how long after a card it is pressed: the bot has read by then that the card is posted.
const pressPause = 10 * time.Millisecond

// pressSoon presses a button of a card. The caller holds the lock.
func (d *Discord) pressSoon(in string, card int64, button string) {
	id := d.newID()
	object := func(text string) json.RawMessage { return json.RawMessage(text) }
	user := map[string]any{
		"id": Approver, "username": "boss", "discriminator": "0", "global_name": "Boss", "avatar": nil,
	}
	press, _ := json.Marshal(map[string]any{ // can't fail: texts and JSON
		"id": strconv.FormatInt(id, 10), "application_id": application, "type": 3, "version": 1,
		"token": fmt.Sprint(pressToken, id), "data": map[string]any{"custom_id": button, "component_type": 2},
		"locale": "en-US", "guild_locale": "en-US", "context": 0, "entitlements": []any{},
		"attachment_size_limit": 10 << 20, "authorizing_integration_owners": map[string]any{"0": guild},
		"guild_id": guild, "guild": map[string]any{"id": guild}, "channel_id": in, "channel": object(channelJSON(in)),
		"app_permissions": everything,
		"member": map[string]any{
			"user": user, "roles": []any{}, "joined_at": "2024-01-01T00:00:00+00:00", "permissions": everything,
			"deaf": false, "mute": false, "flags": 0,
		},
		"message": map[string]any{
			"id": strconv.FormatInt(card, 10), "channel_id": in, "author": object(botUser), "content": "", "flags": 0,
			"components": []any{}, "type": 0,
		},
	})
	to := d.session
	d.presses.Go(func() {
		time.Sleep(pressPause)
		to.dispatch("INTERACTION_CREATE", press)
	})
}
