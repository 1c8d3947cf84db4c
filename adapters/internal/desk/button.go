package desk

import (
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// Open reads a sealed value. A value that this gatehouse did not seal, or would not seal so, gives a button without an
// action, which Press refuses.
func (d Desk) Open(value string) outbound.Button {
	fields, ok := d.Signer.Open(value)
	if !ok || len(fields) < 2 {
		return outbound.Button{}
	}
	b := outbound.Button{Action: outbound.Action(fields[0])}
	switch {
	case !b.OnReply():
		action, count, _ := strings.Cut(fields[1], outbound.EditsMark)
		b = outbound.Button{Action: outbound.Action(action), Approval: core.ApprovalID(fields[0]), More: fields[2:]}
		n, _ := strconv.Atoi(count)
		if b.Action == outbound.ActionAnswer {
			b.Option = n
		} else {
			b.Edits = n
		}
	case len(fields) > 2:
		b.Failed, _ = strconv.ParseInt(fields[1], 10, 64)
		b.Conversation, b.More = core.ConversationID(fields[2]), fields[3:]
	}
	if !slices.Equal(b.Fields(), fields) {
		return outbound.Button{}
	}
	return b
}
