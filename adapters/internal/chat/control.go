package chat

import (
	"strings"

	"gatehouse/core"
)

// Control parses a message that is a control word after an exclamation mark, such as !stop; slash commands don't work in threads.
// It returns nil for any other message.
func Control(text string) core.EventBody {
	word, ok := strings.CutPrefix(strings.TrimSpace(text), "!")
	if !ok {
		return nil
	}
	return core.ParseControl(word)
}
