package chat

import (
	"strings"

	"gatehouse/core"
)

// UserMessage returns a person's message as the agent reads it: the speaker (zero if the conversation has only one person), the images, and
// the text, which ends with the names of the files that were not read. Error: chat_message_shape_invalid if the message is empty.
func UserMessage(speaker core.Speaker, text string, images []core.Block, unread []string) (*core.Message, error) {
	if len(unread) > 0 {
		text = strings.TrimSpace(text + "\n[attached files that can't be read: " + strings.Join(unread, ", ") + "]")
	}
	if text == "" && len(images) == 0 {
		return nil, core.Errorf(core.ChatMessageShapeInvalid, "There is nothing to answer in that message. Write what you would like after mentioning me.")
	}
	m := core.Message{Role: core.User, Content: core.Said(speaker, text, images...)}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	return &m, nil
}
