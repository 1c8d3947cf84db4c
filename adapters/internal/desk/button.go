package desk

import (
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Open reads a sealed value. A value that this gatehouse did not seal gives a button without an action, which Press refuses.
func (d Desk) Open(value string) chat.Button {
	fields, ok := d.Signer.Open(value)
	if !ok || len(fields) < 2 {
		return chat.Button{}
	}
	if a := chat.Action(fields[0]); a == chat.ActionRetry || a == chat.ActionNew {
		failed, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || len(fields) < 3 {
			return chat.Button{}
		}
		return chat.Button{Action: a, Failed: failed, Conversation: core.ConversationID(fields[2]), More: fields[3:]}
	}
	action, count, changed := strings.Cut(fields[1], chat.EditsMark)
	b := chat.Button{Action: chat.Action(action), Approval: core.ApprovalID(fields[0]), More: fields[2:]}
	if changed {
		n, err := strconv.Atoi(count)
		if err != nil || n <= 0 || strconv.Itoa(n) != count {
			return chat.Button{}
		}
		b.Edits = n
	}
	if b.Action == chat.ActionAnswer { // a question has no edits
		b.Option, b.Edits = b.Edits, 0
	}
	return b
}
