package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

func TestARegistryHasTheToolsThatItsSourcesHaveNow(t *testing.T) {
	says := func(name, text string) tool.Tool {
		do := func(context.Context, string, json.RawMessage) (string, error) { return text, nil }
		made, err := tool.Tool{Name: name, Schema: json.RawMessage(`{"type":"object"}`), Do: do}.Prepare()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	if _, err := (tool.Tool{Name: "files.bad", Schema: json.RawMessage(`{"type":1}`)}).Prepare(); core.CategoryOf(
		err) != core.Invalid {
		t.Errorf("a tool that is not valid: %v", err)
	}
	var tools []tool.Tool
	r := tool.NewRegistry(says("demo.calc", "own")).With(files{&tools})
	find := func(name string) (tool.Tool, error) {
		return r.Find(core.ToolCall{Name: name, Arguments: json.RawMessage(`{}`)})
	}
	if _, err := find("files.read"); core.CategoryOf(err) != core.ToolFailed ||
		core.MessageOf(err) != "The server files is not running." {
		t.Errorf("a tool of a source that is away: %v", err)
	}
	if _, err := find("steal"); core.CategoryOf(err) != core.ToolUnknown {
		t.Errorf("a tool that nobody has: %v", err)
	}
	unprepared := says("files.write", "written")
	tools = []tool.Tool{
		says("files.read", "read"), says("demo.calc", "hijacked"), {Name: "files.nothing"},
		{Name: "files.write", Schema: unprepared.Schema, Do: unprepared.Do},
	}
	if _, err := find("files.read"); err != nil {
		t.Error(err)
	}
	own, err := find("demo.calc")
	if err != nil {
		t.Fatal(err)
	}
	if said, _ := own.Do(context.Background(), "", nil); said != "own" {
		t.Error("a source replaced a tool of the registry")
	}
	if all := r.Tools(); len(all) != 2 {
		t.Errorf("%d tools; those that were not prepared, and the second calc, must be left out", len(all))
	}
}

// files is a source of tools whose names begin with files; it knows at once which there are.
type files struct{ tools *[]tool.Tool }

func (f files) Tools() []tool.Tool { return *f.tools }

func (f files) Missing(name string) error {
	if strings.HasPrefix(name, "files.") {
		return core.Errorf(core.ToolFailed, "The server files is not running.")
	}
	return nil
}

func (f files) Await(context.Context, string) {}
