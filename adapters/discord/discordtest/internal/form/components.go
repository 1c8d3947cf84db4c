package form

import (
	"fmt"
	"unicode/utf8"

	"gatehouse/adapters/discord/discordtest/internal/message"
	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// CheckComponents finds what Discord would refuse in the components of a message, besides what its description says.
func CheckComponents(fields wire.Object, bad *Errors) {
	rows := wire.List(fields, "components")
	if wire.Int(fields, "flags")&wire.FlagComponentsV2 != 0 {
		if n := countComponents(rows); n > 40 {
			bad.Add("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 40 in length.")
		}
		if n := textLength(rows); n > 4000 {
			bad.Add("components", "COMPONENT_MAX_TEXT_SIZE_EXCEEDED",
				"The total text of all components must be 4000 or fewer in length.")
		}
	} else if len(rows) > 5 {
		bad.Add("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	seen := map[string]bool{}
	for i, row := range rows {
		where := fmt.Sprintf("components.%d", i)
		if wire.Int(fields, "flags")&wire.FlagComponentsV2 != 0 {
			checkInner(row, where, seen, bad)
			continue
		}
		if wire.Int(row, "type") != message.ComponentRow {
			bad.Add(where, "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
			continue
		}
		checkInner(row, where, seen, bad)
	}
}

func countComponents(components []wire.Object) int {
	n := len(components)
	for _, c := range components {
		n += countComponents(wire.List(c, "components"))
	}
	return n
}

func textLength(components []wire.Object) int {
	n := 0
	for _, c := range components {
		if wire.Int(c, "type") == message.ComponentText {
			n += utf8.RuneCountInString(wire.String(c, "content"))
		}
		n += textLength(wire.List(c, "components"))
	}
	return n
}

func checkInner(c wire.Object, where string, seen map[string]bool, bad *Errors) {
	inner := wire.List(c, "components")
	for j, e := range inner {
		at := fmt.Sprintf("%s.components.%d", where, j)
		switch wire.Int(e, "type") {
		case message.ComponentButton:
			checkButton(e, at, seen, bad)
		case message.ComponentMenu:
			checkMenu(e, at, seen, bad)
			if len(inner) > 1 {
				bad.Add(where+".components", "COMPONENT_LAYOUT_WIDTH_EXCEEDED",
					"The specified component exceeds the maximum width")
			}
		default:
			if id, has := e["custom_id"]; has {
				checkCustomID(fmt.Sprint(id), at, seen, bad)
			}
			checkInner(e, at, seen, bad)
		}
	}
}

func checkButton(b wire.Object, at string, seen map[string]bool, bad *Errors) {
	if wire.String(b, "label") == "" && b["emoji"] == nil {
		bad.Add(at+".label", "BUTTON_COMPONENT_LABEL_REQUIRED", "A label or emoji is required")
	}
	if wire.Int(b, "style") == 5 {
		if wire.String(b, "url") == "" {
			bad.Add(at+".url", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 512 in length.")
		}
		return
	}
	checkCustomID(wire.String(b, "custom_id"), at, seen, bad)
}

// checkMenu checks a menu of texts.
func checkMenu(m wire.Object, at string, seen map[string]bool, bad *Errors) {
	checkCustomID(wire.String(m, "custom_id"), at, seen, bad)
	values := map[string]bool{}
	for i, o := range wire.List(m, "options") {
		if value := wire.String(o, "value"); values[value] {
			bad.Add(fmt.Sprintf("%s.options.%d.value", at, i), "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
				"The specified option value is already used")
		} else {
			values[value] = true
		}
	}
}

func checkCustomID(id, at string, seen map[string]bool, bad *Errors) {
	if id == "" {
		bad.Add(at+".custom_id", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	} else if seen[id] {
		bad.Add(at+".custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	seen[id] = true
}
