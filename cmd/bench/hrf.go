package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gatehouse/core/hrf"
)

// hrfSteps are the sizes: 5,000 steps are about 1 MB.
var hrfSteps = []int{1_000, 5_000, 20_000}

// benchHRF measures the check of envelopes at three sizes. The time for a byte is about the same at each if the check is linear.
func benchHRF(ctx context.Context, out io.Writer) error {
	fmt.Fprintf(out, "%10s %8s %10s %8s\n", "bytes", "steps", "took", "ns/byte")
	var perByte []float64
	for _, steps := range hrfSteps {
		text := []byte(hrfEnvelope(steps))
		took, err := median(ctx, func() error {
			_, report := hrf.Parse(text, hrf.Strict)
			if fault := report.Err(); fault != nil {
				return fault
			}
			return nil
		})
		if err != nil {
			return err
		}
		each := float64(took.Nanoseconds()) / float64(len(text))
		perByte = append(perByte, each)
		fmt.Fprintf(out, "%10d %8d %10s %8.1f\n", len(text), steps, took.Round(10_000), each)
	}
	fmt.Fprintf(out, "ns/byte of the largest to the smallest: %.2f\n", perByte[len(perByte)-1]/perByte[0])
	return nil
}

// hrfEnvelope is a valid envelope whose script has a number of steps of all types, a fifth of them within branches.
func hrfEnvelope(steps int) string {
	var b strings.Builder
	b.WriteString(`{"HRFVersion": "1.0", "messages": [{"role": "system", "contentType": "harmony-script", "content": {"steps": [`)
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
