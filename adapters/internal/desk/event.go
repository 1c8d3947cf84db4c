package desk

import (
	"encoding/json"
	"fmt"
	"strings"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

func (d Desk) event(id string, body core.EventBody, p Press) core.Event {
	return core.Event{
		Platform: d.Platform, ID: id, Conversation: p.Conversation, Body: body, Actor: p.Who, Address: p.Address,
	}
}

// again is the event of a button below the reply to a failed event: one, however often and by whomever it is pressed.
func (d Desk) again(b outbound.Button, p Press) Event {
	p.Conversation = b.Conversation
	var body core.EventBody = core.ResetEvent{Failed: b.Failed}
	if b.Action == outbound.ActionRetry {
		body = core.RetryEvent{Failed: b.Failed}
	}
	return Event{Event: d.event(fmt.Sprintf("press/%s/%d", b.Action, b.Failed), body, p)}
}

// decision is the event of a decision.
func (d Desk) decision(c core.Click, p Press) Event {
	id := "vote/" + string(c.Approval) + "/" + strings.TrimPrefix(p.Who.ID, d.Platform+":") + "/" + p.ID
	e := d.event(id, core.ClickEvent{Approval: c.Approval}, p)
	e.Payload, _ = json.Marshal(c) // of texts and numbers: can't fail
	return Event{Event: e, Click: c}
}
