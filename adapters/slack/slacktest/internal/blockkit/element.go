package blockkit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// interactive checks all interactive elements of one block, because their action ids must differ.
func (k *Checker) interactive(at string, elements []Block) {
	seen := map[string]bool{}
	for i, e := range elements {
		where := at
		if len(elements) > 1 {
			where = fmt.Sprintf("%s/elements/%d", at, i)
		}
		if id, ok := e["action_id"].(string); ok {
			k.long(where+"/action_id", id, 0, maxActionID)
			if seen[id] && id != "" {
				k.Fault(where+"/action_id", "`action_id` already exists: %s", id)
			}
			seen[id] = true
		}
		if e["placeholder"] != nil {
			k.TextObject(where+"/placeholder", e["placeholder"], maxPlaceholder, "plain_text")
		}
		if confirm, ok := e["confirm"].(Block); ok {
			k.TextObject(where+"/confirm/title", confirm["title"], maxConfirmTitle, "plain_text")
			k.TextObject(where+"/confirm/text", confirm["text"], maxConfirmText, "plain_text", "mrkdwn")
			k.TextObject(where+"/confirm/confirm", confirm["confirm"], maxConfirmButton, "plain_text")
			k.TextObject(where+"/confirm/deny", confirm["deny"], maxConfirmButton, "plain_text")
		}
		switch e["type"] {
		case "button":
			k.button(where, e)
		case "plain_text_input":
			k.input(where, e)
		case "number_input":
			k.number(where, e)
		case "static_select":
			k.options(where+"/options", e["options"], maxOptions)
		case "radio_buttons":
			k.options(where+"/options", e["options"], maxChecks)
		case nil:
			k.Fault(where, "missing required field: type")
		default:
			k.Fault(where+"/type", "unsupported type: %v", e["type"])
		}
	}
}

// options checks the options of a menu or of radio buttons, of which there may be at most most.
func (k *Checker) options(at string, value any, most int) {
	options, _ := value.([]any)
	switch {
	case len(options) == 0:
		k.Fault(at, "no less than 1 items required")
	case len(options) > most:
		k.Fault(at, "no more than %d items allowed", most)
	}
	for i, one := range options {
		o, where := AsBlock(one), fmt.Sprintf("%s/%d", at, i)
		k.TextObject(where+"/text", o["text"], maxOptionText, "plain_text", "mrkdwn")
		value, _ := o["value"].(string)
		k.long(where+"/value", value, 0, maxOptionValue)
	}
}

// input checks an input for a text.
func (k *Checker) input(at string, e Block) {
	initial, _ := e["initial_value"].(string)
	most := maxInput
	least, _ := e["min_length"].(float64)
	if n, ok := e["max_length"].(float64); ok {
		if n < 1 || n > maxInput {
			k.Fault(at+"/max_length", "must be 1 to %d", maxInput)
		}
		most = min(most, int(n))
	}
	if least < 0 || int(least) > most {
		k.Fault(at+"/min_length", "must be 0 to %d", most)
	}
	k.long(at+"/initial_value", initial, 0, most)
}

// number checks an input for a number.
func (k *Checker) number(at string, e Block) {
	decimal, ok := e["is_decimal_allowed"].(bool)
	if !ok {
		k.Fault(at, "missing required field: is_decimal_allowed")
	}
	bounds := map[string]float64{"min_value": math.Inf(-1), "max_value": math.Inf(1)}
	for key := range bounds {
		if e[key] == nil {
			continue
		}
		text, _ := e[key].(string)
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || strings.ContainsAny(text, "eExX_") || !decimal && strings.Contains(text, ".") {
			k.Fault(at+"/"+key, "must be a number")
		}
		bounds[key] = n
	}
	if bounds["min_value"] > bounds["max_value"] {
		k.Fault(at+"/min_value", "must not be greater than max_value")
	}
}

func (k *Checker) button(at string, e Block) {
	k.TextObject(at+"/text", e["text"], maxButtonText, "plain_text")
	if value, ok := e["value"].(string); ok {
		k.long(at+"/value", value, 0, maxButtonValue)
	}
	if link, ok := e["url"].(string); ok {
		k.long(at+"/url", link, 0, maxURL)
	}
	if style, ok := e["style"].(string); ok && style != "primary" && style != "danger" && style != "" {
		k.Fault(at+"/style", "must be one of: primary, danger")
	}
}
