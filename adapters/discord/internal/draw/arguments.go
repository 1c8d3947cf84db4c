package draw

import (
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/mask"
)

// Limits of the answer to a person who asks for all arguments, in UTF-16 units.
const (
	maxArgumentsText = MaxContent - 200 // in the message itself
	maxArgumentsFile = 3 << 20          // of the file that holds more: three bytes each, and Discord takes ten million
)

// Arguments shows a call's arguments to the person who pressed: in the message, or in a file if they don't fit a
// message.
func Arguments(c core.Card, t *wording.Texts) Message {
	tool, all := t.LabelTool+": "+toolOf(c.Tool)+"\n", strings.TrimSpace(mask.Escape(c.Arguments))
	if all == "" {
		return Message{Text: tool + t.ArgumentsNone}
	}
	if text, left := fenced(jsonFence, unfenced(all), maxArgumentsText, safetext.MoreNote); left == 0 {
		return Message{Text: tool + text}
	}
	text := t.ArgumentsInFile
	all, left := safetext.Head(all, maxArgumentsFile)
	if left > 0 {
		text = safetext.Counted(t.ArgumentsFileCut, left) + doc.OnPage(c, Reader(t))
	}
	return Message{Text: tool + text, Files: []file{{"arguments.json", "application/json; charset=utf-8", all}}}
}
