package hrf_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"gatehouse/core/hrf"
)

// BenchmarkParse checks envelopes of 1,000 to 20,000 steps; 5,000 steps are about 1 MB. MB/s stays about the same at
// each size while the check is linear.
func BenchmarkParse(b *testing.B) {
	for _, steps := range []int{1_000, 5_000, 20_000} {
		text := []byte(longEnvelope(steps))
		b.Run(fmt.Sprintf("steps=%d", steps), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, report := hrf.Parse(text, hrf.Strict); !report.Valid() || len(report.Warnings) > 0 {
					b.Fatalf("%+v", report)
				}
			}
		})
	}
}

// longEnvelope is a valid envelope whose script has a number of steps of all types, a fifth of them within branches.
func longEnvelope(steps int) string {
	var b strings.Builder
	b.WriteString(
		`{"HRFVersion": "1.0", "messages": [{"role": "system", "contentType": "harmony-script", "content": {"steps": [`)
	for i := 0; i < steps; i += 5 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(fiveSteps, "#", strconv.Itoa(i)))
	}
	b.WriteString("\n]}}]}")
	return b.String()
}

// fiveSteps are five steps, in which # stands for a number.
const fiveSteps = `
{"type": "extract-input", "output": {
  "customer#": "$input.customer", "order#": "$input.orders[#].number", "many#": "$len($input.orders)"
}},
{"type": "tool-call", "recipient": "orders.find_order", "channel": "commentary", "save_as": "found#",
  "args": {"customer": "$vars.customer#", "order": {"number": "$vars.order#"}, "limit": 10}},
{"type": "if", "condition": "$len(vars.found#) > 0", "then": [
  {"type": "assistant-message", "channel": "analysis",
    "content_template": "Order {{vars.order#}} of {{vars.customer#}}: {{vars.found#.0}} of {{vars.many#}}."}
], "else": []},
{"type": "assistant-message", "channel": "analysis",
  "content": "A note with \"quotes\", a line break\nand Unicode: café."}`
