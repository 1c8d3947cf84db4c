package chat

import (
	"encoding/json"
	"strings"

	"gatehouse/core"
	"gatehouse/core/mask"
)

// What the form that changes a call's arguments says.
const (
	EditTitle  = "Change the arguments"
	EditSubmit = "Change"
	EditLabel  = "Arguments (a JSON object)"
	EditHint   = "Approvals given so far will not count any more."
	NoEdit     = "The arguments of this request can't be changed here, so nothing was changed."
)

// EditText returns what the form for a call's arguments is filled with: all of them, as JSON. ok is false if they can't be changed in a form
// whose input takes so many UTF-16 units, or if the card's text would not be read back as the same arguments: what is invisible in it is
// escaped, which JSON allows in its texts only.
func EditText(c core.Card, limit int) (text string, ok bool) {
	text = strings.TrimSpace(c.Arguments)
	whole := strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && mask.Escape(text) == text
	if !whole || !c.Editable || c.State != core.Open || Units(text) > limit {
		return "", false
	}
	return text, true
}
