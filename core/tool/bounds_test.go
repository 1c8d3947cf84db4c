package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// The bounds hold for a tool with a schema and for one without.
func TestArgumentsAreBounded(t *testing.T) {
	lists := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}` }
	objects := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	items := func(n int) string { return `{"a":[` + strings.Repeat("1,", n-1) + `1]}` }
	members := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`"k%d":1`, i)
		}
		return `{` + strings.Join(all, ",") + `}`
	}
	tools := tool.NewRegistry(tool.Tool{Name: "a.open", Do: nothing},
		tool.Tool{Name: "a.schema", Schema: json.RawMessage(`{"type":"object"}`), Do: nothing})
	const maxDepth, maxValues = 32, 10_000
	const deep, many = "do not fit its schema: they are more than 32 levels deep",
		"do not fit its schema: they have more than 10000 values"
	for name, c := range map[string]struct{ args, want string }{
		"lists, the deepest":     {lists(maxDepth), ""},
		"lists, one deeper":      {lists(maxDepth + 1), deep},
		"objects, the deepest":   {objects(maxDepth), ""},
		"objects, one deeper":    {objects(maxDepth + 1), deep},
		"the most items":         {items(maxValues - 2), ""},
		"one item too many":      {items(maxValues - 1), many},
		"the most members":       {members(maxValues - 1), ""},
		"one member too many":    {members(maxValues), many},
		"as deep as JSON may be": {lists(400), deep},
	} {
		t.Run(name, func(t *testing.T) {
			for _, of := range []string{"a.open", "a.schema"} {
				_, err := tools.Find(core.ToolCall{Name: of, Arguments: json.RawMessage(c.args)})
				if c.want == "" && err != nil ||
					c.want != "" &&
						(core.CategoryOf(err) != core.ToolArguments || !strings.Contains(core.MessageOf(err), c.want)) {
					t.Errorf("%s: %v, want %q", of, err, c.want)
				}
			}
		})
	}
}
