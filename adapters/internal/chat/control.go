package chat

import (
	"strings"

	"gatehouse/core"
)

// controlKinds are the kinds of event that the control words become.
var controlKinds = map[string]core.Kind{
	"new": core.KindReset, "stop": core.KindControl, "status": core.KindControl, "cancel": core.KindControl, "help": core.KindControl,
}

// ControlWord reads a message that is a control word after an exclamation mark, such as !stop; ok is false for any other message.
func ControlWord(text string) (word string, ok bool) {
	word, ok = strings.CutPrefix(strings.TrimSpace(text), "!")
	word = strings.ToLower(word)
	return word, ok && IsControlWord(word)
}

// IsControlWord reports whether a word is one of new, stop, status, cancel and help.
func IsControlWord(word string) bool { return controlKinds[word] != "" }

// SetControl makes an event the one of a control word.
func SetControl(e *core.Event, word string) {
	e.Kind = controlKinds[word]
	if e.Kind == core.KindControl {
		e.Subject = word
	}
}
