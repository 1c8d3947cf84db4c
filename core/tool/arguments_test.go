package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

const refundSchema = `{"type":"object","additionalProperties":false,"required":["customer","amount"],"properties":{
	"customer":{"type":"string","pattern":"^cus_[0-9]+$"},"amount":{"type":"number","exclusiveMinimum":0,"maximum":500},
	"when":{"type":"string","format":"date"},"pin":{"type":"string","writeOnly":true,"pattern":"^[0-9]{4}$"},
	"lines":{"type":"array","items":{"$ref":"#/$defs/line"}}},"$defs":{"line":{"type":"object","required":["sku"]}}}`

func nothing(context.Context, string, json.RawMessage) (string, error) { return "", nil }

func TestArgumentsAreCheckedAgainstTheSchema(t *testing.T) {
	tools := tool.NewRegistry(tool.Tool{Name: "shop.refund", Schema: json.RawMessage(refundSchema), Do: nothing},
		tool.Tool{Name: "shop.open", Do: nothing})
	for args, want := range map[string]string{
		`{"customer":"cus_1","amount":12.5}`:                       "",
		`{"customer":"cus_1","amount":12.5,"lines":[{"sku":"a"}]}`: "",
		`{"amount":1}`:                                             "missing customer",
		`{"customer":7,"amount":1}`:                                "customer: this is a JSON number, not string",
		`{"customer":"ann","amount":1}`:                            "customer: 'ann' does not match pattern",
		`{"customer":"cus_1","amount":501}`:                        "amount: maximum: got 501, want 500",
		`{"customer":"cus_1","amount":1,"note":"x"}`:               "unknown note",
		`{"customer":"cus_1","amount":1,"when":"tomorrow"}`:        "", // a format is an annotation
		`{"customer":"cus_1","amount":1,"lines":[{"sku":"a"},{}]}`: "lines/1: missing sku",
		`{"customer":7,"amount":"1"}`: "amount: this is a JSON string, not number; " +
			"customer: this is a JSON number, not string",
		`{"customer":"cus_1","amount":1,"pin":"hunter22"}`:   "pin: '••••••' does not match",
		`{"customer":"cus_1","amount":1e99999999999}`:        "a number with too many digits",
		`{"customer":"cus_1","amount":1e-9999999}`:           "a number with too many digits",
		`{"customer":"cus_1","customer":"cus_2","amount":1}`: "not valid JSON",
		`{"customer":"cus_1"`:                                "not valid JSON",
		`["cus_1"]`:                                          "they must be a JSON object",
		`null`:                                               "they must be a JSON object",
		``:                                                   "not valid JSON",
		`{"customer":"` + strings.Repeat("x", 5000) + `","amount":1}`: "…",
	} {
		_, err := tools.Find(core.ToolCall{Name: "shop.refund", Arguments: json.RawMessage(args)})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", args, err)
		case want != "" &&
			(core.CategoryOf(err) != core.ToolArguments || !strings.Contains(core.MessageOf(err), want) ||
				len(core.MessageOf(err)) > 2000):
			t.Errorf("%.80s: %v; want %q", args, err, want)
		}
	}
	_, err := tools.Find(core.ToolCall{
		Name:      "shop.refund",
		Arguments: json.RawMessage(`{"customer":7,"amount":1,"pin":"hunter22","lines":[{"sku":"a"},{}]}`),
	})
	var faults core.ArgumentFaults
	if !errors.As(err, &faults) || faults["customer"] != "this is a JSON number, not string" ||
		faults["lines"] != "1: missing sku" || strings.Contains(faults["pin"], "hunter22") || faults["amount"] != "" {
		t.Errorf("argument by argument: %q", faults)
	}
	if _, err := tools.Find(core.ToolCall{Name: "shop.open", Arguments: json.RawMessage(`[]`)}); core.CategoryOf(
		err) != core.ToolArguments {
		t.Errorf("without a schema: %v", err)
	}
}

func TestToolsThatAreNotValidAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*tool.Tool)
		want    string
		pointer string
	}{
		"no dot":        {func(tl *tool.Tool) { tl.Name = "refund" }, "plugin.function", "-"},
		"two dots":      {func(tl *tool.Tool) { tl.Name = "a.b.c" }, "plugin.function", "-"},
		"a space":       {func(tl *tool.Tool) { tl.Name = "a.b c" }, "plugin.function", "-"},
		"an empty half": {func(tl *tool.Tool) { tl.Name = "a." }, "plugin.function", "-"},
		"no Do":         {func(tl *tool.Tool) { tl.Do = nil }, "lacks Do", "-"},
		"no Summarize":  {func(tl *tool.Tool) { tl.Mutating = true }, "lacks Do or Summarize", "-"},
		"no JSON":       {func(tl *tool.Tool) { tl.Schema = json.RawMessage(`{`) }, "not valid JSON", ""},
		"no object": {func(tl *tool.Tool) {
			tl.Schema = json.RawMessage(`{"type":"string"}`)
		}, "its type must be object", ""},
		"an unknown type": {func(tl *tool.Tool) {
			tl.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"text"}}}`)
		}, "/properties/a/type", "/properties/a/type"},
		"a wrong pattern": {func(tl *tool.Tool) {
			tl.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"pattern":"("}}}`)
		}, "not valid regex", "/properties/a/pattern"},
		"another document": {func(tl *tool.Tool) {
			tl.Schema = json.RawMessage(`{"type":"object","$ref":"file:///etc/passwd"}`)
		}, "other documents", ""},
		"nowhere": {func(tl *tool.Tool) {
			tl.Schema = json.RawMessage(`{"type":"object","$ref":"#/$defs/x"}`)
		}, "not found", ""},
	} {
		t.Run(name, func(t *testing.T) {
			one := tool.Tool{Name: "shop.refund", Do: nothing}
			c.change(&one)
			err := one.Validate()
			if core.CategoryOf(err) != core.Invalid || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v", err)
			}
			var faults tool.SchemaFaults
			if errors.As(err, &faults) && faults[0].Pointer != c.pointer {
				t.Errorf("the fault is at %q, want %q", faults[0].Pointer, c.pointer)
			}
			defer func() {
				if recover() == nil {
					t.Error("NewRegistry takes it")
				}
			}()
			tool.NewRegistry(one)
		})
	}
}
