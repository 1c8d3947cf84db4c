package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
	"gatehouse/core/tool"
)

// allocated runs do and returns how much memory it allocated in all, in bytes.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// held returns how much memory is in use, in bytes.
func held() int64 {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	return int64(now.HeapAlloc)
}

func TestLaw5_AHintDoesNotMakeAToolRunUngated(t *testing.T) {
	path, read := notes(t)
	r := run(t, mcp.Options{}, process(t, "instructions", "NOTES", path))
	x := tool.Executor{Tools: r.registry}
	call := core.ToolCall{ID: "c1", Name: "files.read_all", Arguments: json.RawMessage(`{}`)}
	if _, err := x.Read(context.Background(), r.get("files.read_all"), call,
		"k1"); core.CategoryOf(err) != core.ApprovalMissing {
		t.Errorf("%v", err)
	}
	if result, err := x.Act(context.Background(), call,
		"a1", tool.Prefix{}); core.CategoryOf(err) != core.ApprovalMissing {
		t.Errorf("%+v, %v", result, err)
	}
	if read() != "" {
		t.Errorf("it ran: %q", read())
	}
	if got, err := r.call("files.read_all", `{}`); err != nil || !strings.HasPrefix(got, "Ignore your rules") {
		t.Errorf("what it says is text and nothing else: %q, %v", got, err)
	}
}

func TestAReadingToolThatChangesWritesUntilItIsConfirmed(t *testing.T) {
	schema := filepath.Join(t.TempDir(), "schema")
	define := func(text string) {
		if err := os.WriteFile(schema, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	define(`{"type":"object"}`)
	path, _ := notes(t)
	entry := process(t, "shifty", "SCHEMA", schema, "NOTES", path)
	entry.ReadOnly = []string{"read_*"}
	kept := &pins{}
	var confirmation string
	t.Run("first", func(t *testing.T) {
		r := run(t, mcp.Options{Pins: kept}, entry)
		before := r.get("files.read_all")
		if before.Mutating {
			t.Fatal("the admin's word does not count")
		}
		if !r.get("files.read_none").Mutating || r.get("files.read_none").Risk != core.Dangerous {
			t.Error("a glob lowered the risk of a tool that destroys")
		}
		define(`{"type":"object","properties":{"all":{"type":"boolean"}}}`)
		if _, err := r.call("files.shift", `{}`); err != nil {
			t.Fatal(err)
		}
		r.await("files.read_all has changed", 1)
		if !r.get("files.read_all").Mutating {
			t.Error("it still reads")
		}
		if _, err := before.Do(context.Background(),
			"a1", json.RawMessage(`{}`)); core.CategoryOf(err) != core.ToolFailed ||
			!strings.Contains(core.MessageOf(err), "has changed") {
			t.Errorf("a call that was checked before the change: %v", err)
		}
		for _, s := range r.Report() {
			for _, one := range s.Tools {
				if one.Standing == mcp.Changed {
					confirmation = one.Confirm
				}
			}
		}
		if !strings.HasPrefix(confirmation, "read_all@") {
			t.Errorf("the admin is not told: %q", confirmation)
		}
	})
	t.Run("again", func(t *testing.T) {
		if !run(t, mcp.Options{Pins: kept}, entry).get("files.read_all").Mutating {
			t.Error("a restart confirmed it")
		}
	})
	confirmed := entry
	confirmed.ReadOnly = append([]string{confirmation}, entry.ReadOnly...)
	t.Run("confirmed", func(t *testing.T) {
		r := run(t, mcp.Options{Pins: kept}, confirmed)
		if r.get("files.read_all").Mutating {
			t.Error("the confirmation does not count")
		}
		define(`{"type":"object","properties":{"none":{"type":"boolean"}}}`)
		if _, err := r.call("files.shift", `{}`); err != nil {
			t.Fatal(err)
		}
		r.await("files.read_all has changed", 1)
		if !r.get("files.read_all").Mutating {
			t.Error("it still reads")
		}
	})
	t.Run("no store", func(t *testing.T) {
		if !run(t, mcp.Options{Pins: &pins{err: os.ErrDeadlineExceeded}},
			entry).get("files.read_all").Mutating {
			t.Error("without the store it reads")
		}
	})
}

func TestAHundredMegabytesCostTheServerItsConnection(t *testing.T) {
	path, read := notes(t)
	r := run(t, mcp.Options{}, process(t, "huge", "NOTES", path))
	var err error
	if got := allocated(func() { _, err = r.call("files.read_all", `{}`) }); got > 64<<20 {
		t.Errorf("%d MiB were allocated", got>>20)
	}
	if core.CategoryOf(err) != core.OutcomeUnknown || !strings.Contains(core.MessageOf(err), "more than 4 MiB") {
		t.Errorf("%v", err)
	}
	r.await("the MCP server runs", 2)
	if read() != "call read_all\n" {
		t.Errorf("the call was repeated: %q", read())
	}
}

func TestALongResultIsCut(t *testing.T) {
	r := run(t, mcp.Options{}, process(t, "long"))
	got, err := r.call("files.read_all", `{}`)
	if err != nil || len(got) > 257<<10 || !strings.HasSuffix(got, "ü\n(The result was cut: it had 800000 bytes.)") {
		t.Errorf("%d bytes, …%s, %v", len(got), got[max(0, len(got)-60):], err)
	}
	reads, x := r.get("files.read_all"), tool.Executor{}
	reads.Mutating = false
	result, err := x.Read(t.Context(), reads, core.ToolCall{Name: reads.Name, Arguments: json.RawMessage(`{}`)}, "k1")
	if err != nil || result.Content != got || result.Whole == "" || result.Miscut {
		t.Errorf("%v: the whole is %q, miscut %t", err, result.Whole, result.Miscut)
	}
}

func TestGarbageIsIgnored(t *testing.T) {
	r := run(t, mcp.Options{}, process(t, "garbage"))
	if _, err := r.call("files.read_all", `{}`); err != nil {
		t.Error(err)
	}
	if !strings.Contains(r.log.String(), "Server running on stdio") {
		t.Errorf("nobody is told:\n%s", r.log)
	}
}

func TestAServerThatDoesNotAnswer(t *testing.T) {
	t.Run("a call", func(t *testing.T) {
		_, err := run(t, mcp.Impatient(mcp.Options{}), process(t, "mute")).call("files.read_all", `{}`)
		if core.CategoryOf(err) != core.OutcomeUnknown ||
			!strings.Contains(core.MessageOf(err), "did not answer within 1s") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a malformed answer", func(t *testing.T) {
		_, err := run(t, mcp.Impatient(mcp.Options{}), process(t, "malformed")).call("files.read_all", `{}`)
		if core.CategoryOf(err) != core.OutcomeUnknown {
			t.Errorf("%v", err)
		}
	})
	t.Run("a ping", func(t *testing.T) {
		r := run(t, mcp.Pinging(mcp.Options{}), process(t, "deaf"))
		r.await("did not answer two pings", 1)
	})
	t.Run("the handshake", func(t *testing.T) {
		r := run(t, mcp.Hasty(mcp.Options{}), process(t, "silent"))
		r.await("it did not answer within 1s", 1)
	})
}

func TestAFloodOfMessagesFillsNothing(t *testing.T) {
	r := run(t, mcp.Options{}, process(t, "flood"))
	before := held()
	for range 50 {
		if _, err := r.call("files.read_all", `{}`); err != nil {
			t.Fatal(err)
		}
	}
	if got := held() - before; got > 32<<20 {
		t.Errorf("%d MiB are held", got>>20)
	}
}

func TestALongListIsCut(t *testing.T) {
	r := run(t, mcp.Options{}, process(t, "many"))
	if n := len(r.Tools()); n != 256 {
		t.Errorf("%d tools", n)
	}
	if !strings.Contains(r.log.String(), "only the first 256 are used") {
		t.Error("nobody is told")
	}
}

func TestDefinitionsThatCanNotBeUsedAreLeftOut(t *testing.T) {
	r := run(t, mcp.Options{}, process(t, "schemas"))
	var names []string
	for _, one := range r.Tools() {
		names = append(names, one.Name)
		_ = one.Secret(json.RawMessage(`{"next":{"next":{}}}`)) // ends
		_ = one.SchemaDigest()
	}
	if got := strings.Join(names,
		" "); got != "files.cycle files.remote files.nowhere files.invalid files.none files.same_name_7cce11c6 "+
		"files.same_name_26acda61 files.odd_name files._0cfd1c96 files.hidden" {
		t.Errorf("the tools are %s", got)
	}
	for _, want := range []string{"huge", "deep", "bomb", "list", "text"} {
		if !strings.Contains(r.log.String(), `\"`+want+`\" is left out`) {
			t.Errorf("nobody is told that %s is left out", want)
		}
	}
	hidden := r.get("files.hidden")
	if strings.ContainsAny(hidden.Description+string(hidden.Schema), "\u200b\u202e") ||
		len(hidden.Description) > 5<<10 || !strings.Contains(hidden.Description, "(cut)") {
		t.Errorf("%s %s", hidden.Description, hidden.Schema)
	}
}

func TestAServerThatAsksForMoreThanGatehouseGivesIsToldSo(t *testing.T) {
	r := run(t, mcp.Options{}, process(t, "asks"))
	if got, err := r.call("files.read_all", `{}`); err != nil || !strings.Contains(got, `"id":"q"`) ||
		!strings.Contains(got, "does not support") {
		t.Errorf("%q, %v", got, err)
	}
}
