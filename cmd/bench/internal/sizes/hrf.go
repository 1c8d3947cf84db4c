package sizes

import (
	"strconv"
	"strings"

	"gatehouse/core/hrf"
)

// HRF is the check of envelopes with 1,000 to 20,000 steps: 5,000 steps are about 1 MB.
var HRF = Check{Unit: "steps", Sizes: []int{1_000, 5_000, 20_000}, Text: hrfEnvelope, Do: func(text []byte) error {
	_, report := hrf.Parse(text, hrf.Strict)
	if fault := report.Err(); fault != nil {
		return fault
	}
	return nil
}}

// hrfEnvelope is a valid envelope whose script has a number of steps of all types, a fifth of them within branches.
func hrfEnvelope(steps int) string {
	var b strings.Builder
	b.WriteString(
		`{"HRFVersion": "1.0", "messages": [{"role": "system", "contentType": "harmony-script", "content": {"steps": [`)
	for i := 0; i < steps; i += 5 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(hrfFive, "#", strconv.Itoa(i)))
	}
	b.WriteString("\n]}}]}")
	return b.String()
}

// hrfFive are five steps, in which # stands for a number.
const hrfFive = `
{"type": "extract-input", "output": {"customer#": "$input.customer", "order#": "$input.orders[#].number", "many#": "$len($input.orders)"}},
{"type": "tool-call", "recipient": "orders.find_order", "channel": "commentary", "args": {"customer": "$vars.customer#", "order": {"number": "$vars.order#"}, "limit": 10}, "save_as": "found#"},
{"type": "if", "condition": "$len(vars.found#) > 0",
  "then": [{"type": "assistant-message", "channel": "analysis", "content_template": "Order {{vars.order#}} was found for {{vars.customer#}}: {{vars.found#.0}} of {{vars.many#}}."}],
  "else": []},
{"type": "assistant-message", "channel": "analysis", "content": "A note with \"quotes\", a line break\nand Unicode: café. It is as long as such texts are when people write them for each other: a few sentences that say what the next steps are about, and why. The average of a step is about two hundred bytes."}`
