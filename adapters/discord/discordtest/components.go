package discordtest

import (
	"fmt"
	"unicode/utf8"
)

// Types of components.
const (
	componentRow    = 1
	componentButton = 2
	componentSelect = 3
	componentInput  = 4
	componentText   = 10
	componentLabel  = 18
)

// Button is a button on a message as it stood when it was looked up. It can be pressed later, when the message has changed.
type Button struct {
	Channel  string
	Message  string
	CustomID string
	Label    string
	Style    int
	URL      string
	Disabled bool

	message Message
}

// Buttons are the buttons of the message, from the top.
func (m Message) Buttons() []Button {
	var found []Button
	var walk func([]object)
	walk = func(components []object) {
		for _, c := range components {
			if integer(c, "type") == componentButton {
				found = append(found, Button{
					Channel: m.Channel, Message: m.ID, CustomID: word(c, "custom_id"), Label: word(c, "label"), Style: integer(c, "style"), URL: word(c, "url"),
					Disabled: truth(c, "disabled"), message: m,
				})
			}
			walk(list(c, "components"))
		}
	}
	walk(m.Components)
	return found
}

// checkComponents finds what Discord would refuse in the components of a message.
func checkComponents(fields object, bad *formErrors) {
	value, given := fields["components"]
	if !given || value == nil {
		return
	}
	rows, ok := value.([]any)
	if !ok {
		bad.add("components", "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
		return
	}
	if integer(fields, "flags")&FlagComponentsV2 != 0 {
		if n := countComponents(list(fields, "components")); n > 40 {
			bad.add("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 40 in length.")
		}
	} else if len(rows) > 5 {
		bad.add("components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	seen := map[string]bool{}
	for i, row := range list(fields, "components") {
		where := fmt.Sprintf("components.%d", i)
		if integer(fields, "flags")&FlagComponentsV2 != 0 {
			checkInner(row, where, seen, bad)
			continue
		}
		if integer(row, "type") != componentRow {
			bad.add(where, "UNION_TYPE_CHOICES", "Value of field \"type\" must be one of (1,).")
			continue
		}
		checkInner(row, where, seen, bad)
	}
}

func countComponents(components []object) int {
	n := len(components)
	for _, c := range components {
		n += countComponents(list(c, "components"))
	}
	return n
}

func checkInner(c object, where string, seen map[string]bool, bad *formErrors) {
	inner := list(c, "components")
	if integer(c, "type") == componentRow && (len(inner) < 1 || len(inner) > 5) {
		bad.add(where+".components", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length.")
	}
	for j, e := range inner {
		at := fmt.Sprintf("%s.components.%d", where, j)
		switch integer(e, "type") {
		case componentButton:
			checkButton(e, at, seen, bad)
		case 0:
			bad.add(at+".type", "BASE_TYPE_REQUIRED", "This field is required")
		default:
			if id, has := e["custom_id"]; has {
				checkCustomID(fmt.Sprint(id), at, seen, bad)
			}
			checkInner(e, at, seen, bad)
		}
	}
}

func checkButton(b object, at string, seen map[string]bool, bad *formErrors) {
	style := integer(b, "style")
	if style < 1 || style > 6 {
		bad.add(at+".style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
	}
	label := word(b, "label")
	if utf8.RuneCountInString(label) > 80 {
		bad.add(at+".label", "BASE_TYPE_MAX_LENGTH", "Must be 80 or fewer in length.")
	}
	if label == "" && b["emoji"] == nil {
		bad.add(at+".label", "BUTTON_COMPONENT_LABEL_REQUIRED", "A label or emoji is required")
	}
	if style == 5 {
		if url := word(b, "url"); url == "" || len(url) > 512 {
			bad.add(at+".url", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 512 in length.")
		}
		return
	}
	checkCustomID(word(b, "custom_id"), at, seen, bad)
}

func checkCustomID(id, at string, seen map[string]bool, bad *formErrors) {
	if n := utf8.RuneCountInString(id); n < 1 || n > 100 {
		bad.add(at+".custom_id", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	} else if seen[id] {
		bad.add(at+".custom_id", "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
	}
	seen[id] = true
}
