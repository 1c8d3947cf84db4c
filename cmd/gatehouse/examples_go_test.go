package main

import (
	"context"
	"encoding/json"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// Shop gives money back, once for each key.
type Shop interface {
	Refund(ctx context.Context, key string, euros json.Number) (string, error)
}

// Refund gives money back.
func Refund(shop Shop) tool.Tool {
	euros := func(args json.RawMessage) json.Number {
		var in struct{ Amount json.Number }
		_ = json.Unmarshal(args, &in) // the schema has checked it
		return in.Amount
	}
	return tool.Tool{
		Name:        "shop.refund",
		Description: "Refunds an order, in euros.",
		Schema: json.RawMessage(
			`{"type":"object","properties":{"amount":{"type":"number"}},"required":["amount"]}`),
		Mutating:  true,
		Risk:      core.Dangerous,
		Summarize: func(args json.RawMessage) string { return "Refund " + euros(args).String() },
		Do: func(ctx context.Context, key string, args json.RawMessage) (string, error) {
			return shop.Refund(ctx, key, euros(args))
		},
	}
}

type till struct{}

func (till) Refund(_ context.Context, key string, euros json.Number) (string, error) {
	return key + " " + euros.String(), nil
}

// TestTheToolInGoOfThePage runs the tool that adapters/tools/README.md shows.
func TestTheToolInGoOfThePage(t *testing.T) {
	refund := Refund(till{})
	tool.NewRegistry(refund) // which panics if it is declared wrongly
	args := json.RawMessage(`{"amount":12}`)
	if got, err := refund.Do(t.Context(), "k1", args); err != nil || got != "k1 12" ||
		refund.Summarize(args) != "Refund 12" {
		t.Errorf("it says %q, %v", got, err)
	}
}
