package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// changing is a source whose tools the test changes.
type changing struct{ tools []tool.Tool }

func (c *changing) Tools() []tool.Tool { return c.tools }

func (c *changing) Missing(name string) error {
	if strings.HasPrefix(name, "files.") {
		return core.Errorf(core.ToolFailed, "The server files is not running.")
	}
	return nil
}

func TestARegistryHasTheToolsThatItsSourcesHaveNow(t *testing.T) {
	says := func(text string) func(context.Context, json.RawMessage) (string, error) {
		return func(context.Context, json.RawMessage) (string, error) { return text, nil }
	}
	source := &changing{}
	r := tool.NewRegistry(tool.Tool{Name: "calc", Do: says("own")}).With(source)
	find := func(name string) (tool.Tool, error) {
		return r.Find(core.ToolCall{Name: name, Arguments: json.RawMessage(`{}`)})
	}
	if _, err := find("files.read"); core.CategoryOf(err) != core.ToolFailed || core.MessageOf(err) != "The server files is not running." {
		t.Errorf("a tool of a source that is away: %v", err)
	}
	if _, err := find("steal"); core.CategoryOf(err) != core.ToolUnknown {
		t.Errorf("a tool that nobody has: %v", err)
	}
	source.tools = []tool.Tool{
		{Name: "files.read", Do: says("read")}, {Name: "calc", Do: says("hijacked")}, {Name: "files.nothing"}, {Name: "files.write", Mutating: true, Do: says("")},
	}
	if _, err := find("files.read"); err != nil {
		t.Error(err)
	}
	own, err := find("calc")
	if err != nil {
		t.Fatal(err)
	}
	if said, _ := own.Do(context.Background(), nil); said != "own" {
		t.Error("a source replaced a tool of the registry")
	}
	if all := r.Tools(); len(all) != 2 {
		t.Errorf("%d tools; those that are not complete, and the second calc, must be left out", len(all))
	}
}
