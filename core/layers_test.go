package core_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers lists, for each of our packages, which of our packages it may import; a star matches one name. A package that
// is not listed may import none of them; cmd may import all.
var layers = map[string][]string{
	"core":             {"core/strictjson", "core/mask", "core/question"},
	"core/strictjson":  {},
	"core/mask":        {},
	"core/inflight":    {},
	"core/question":    {"core/strictjson"},
	"core/audit":       {"core"},
	"core/retry":       {"core"},
	"core/strictyaml":  {"core"},
	"core/greeting":    {"core/strictyaml"},
	"core/graph":       {"core", "core/strictjson"},
	"core/typestate":   {"core", "core/strictjson"},
	"core/hrf":         {"core/strictjson", "core/hrf/expr"},
	"core/hrf/expr":    {"core/strictjson"},
	"core/hrf/interp":  {"core/strictjson", "core/hrf", "core/hrf/expr"},
	"core/hrf/native":  {"core/strictjson", "core/hrf"},
	"core/llm":         {"core", "core/strictjson"},
	"core/llm/view":    {"core", "core/llm"},
	"core/llm/prompt":  {"core", "core/strictyaml", "core/llm"},
	"core/llm/llmtest": {"core", "core/strictjson", "core/llm"}, // fakes of the vendors' APIs, for tests
	"core/tool":        {"core", "core/mask", "core/question", "core/strictjson", "core/typestate"},
	"core/keylock":     {},
	"core/chat":        {"core", "core/graph", "core/keylock"},
	"core/agent": {
		"core", "core/greeting", "core/mask", "core/question", "core/strictjson", "core/graph", "core/llm",
		"core/llm/prompt",
		"core/llm/view", "core/tool", "core/typestate", "core/hrf", "core/hrf/interp",
	},
	"core/live":     {"core"},
	"core/dispatch": {"core", "core/inflight", "core/live", "core/retry", "core/chat"},
	"core/outbox":   {"core", "core/retry"},
	"core/schedule": {"core", "core/retry"},
	"approvals": {
		"core", "core/audit", "core/mask", "core/question", "core/strictjson", "core/tool", "approvals/policy",
	},
	// the one adapter of an engine package: it implements graph.Tracer and knows no platform
	"adapters/otel": {"core", "core/mask", "core/retry", "core/graph"},
	"adapters/*": {
		"core", "core/greeting", "core/mask", "core/question", "core/strictjson", "core/strictyaml", "core/llm",
		"core/tool",
		"adapters/internal/*", "adapters/wording",
	},

	"adapters/console": { // it shows turns while they run
		"core", "core/greeting", "core/live", "core/mask", "core/question", "core/strictjson", "adapters/internal/*",
		"adapters/wording",
	},
	"adapters/adaptertest/toy": {"core", "adapters/internal/*", "adapters/wording"}, // a platform for tests

	"adapters/access":  {"core"},
	"adapters/wording": {}, // what cards say
	"approvals/policy": {"core", "core/strictjson", "core/strictyaml"},
	"approvals/proof":  {"core", "core/strictjson", "core/tool"},

	"storage":                    {"core", "storage/sqlite", "storage/postgres", "storage/internal/sqlstore"},
	"storage/sqlite":             {"core", "storage/internal/migration", "storage/internal/sqlstore"},
	"storage/postgres":           {"core", "storage/internal/migration", "storage/internal/sqlstore"},
	"storage/internal/migration": {"core"},
	"storage/internal/erasure":   {"core"},
	"storage/internal/sqlstore":  {"core", "core/retry", "core/audit", "core/question", "storage/internal/erasure"},
	"storage/storagetest": {
		"core", "core/audit", "core/question", "storage/internal/migration", "storage/internal/sqlstore",
		"storage/storagetest/sample",
	},
	"storage/storagetest/property": {
		"core", "core/audit", "storage/internal/sqlstore", "storage/storagetest", "storage/storagetest/sample",
	},
	"storage/storagetest/*": {"core", "storage/internal/sqlstore"},

	// what the adapters of model vendors share
	"adapters/internal/modelapi": {"core", "core/mask", "core/strictjson", "core/llm", "adapters/internal/retryafter"},
	"adapters/internal/*": {
		"core", "core/inflight", "core/mask", "core/question", "core/retry", "core/strictjson", "adapters/internal/*",
		"adapters/wording",
	},
	"adapters/mcp": {
		"core", "core/mask", "core/question", "core/strictjson", "core/tool", "adapters/internal/procgroup",
		"adapters/mcp/internal/*",
	},
	"adapters/mcp/internal/*":     {}, // what a server sends, before anything knows what it means
	"adapters/mcp/internal/login": {"core", "core/mask"},
	"adapters/slack": {
		"core", "core/mask", "core/question", "core/strictjson", "adapters/internal/*", "adapters/slack/internal/*",
		"adapters/wording",
	},
	"adapters/slack/internal/*": {
		"core", "core/retry", "core/strictjson", "adapters/internal/*", "adapters/slack/internal/webapi",
		"adapters/slack/internal/mrkdwn",
	},
	"adapters/slack/internal/doctor": { // it dials
		"core", "core/retry", "adapters/internal/*", "adapters/slack/internal/socketmode",
		"adapters/slack/internal/webapi",
	},
	"adapters/slack/internal/draw": { // what is said
		"core", "core/mask", "core/question", "adapters/internal/*", "adapters/slack/internal/mrkdwn",
		"adapters/slack/internal/webapi", "adapters/wording",
	},
	"adapters/slack/*": {"adapters/internal/fakeserver", "adapters/slack/slacktest/internal/*"}, // the fake
	"adapters/discord": {
		"core", "core/mask", "core/question", "core/retry", "core/strictjson", "adapters/internal/*",
		"adapters/discord/internal/*", "adapters/wording",
	},
	"adapters/discord/internal/*":       {"core", "core/strictjson", "adapters/internal/*"},
	"adapters/discord/internal/address": {"core", "adapters/discord/internal/snowflake"},
	"adapters/discord/internal/draw": {
		"core", "core/mask", "core/question", "adapters/internal/*", "adapters/wording",
		"adapters/discord/internal/address",
	},
	"adapters/discord/internal/heard": {
		"core", "adapters/internal/*", "adapters/discord/internal/address", "adapters/discord/internal/guilds",
		"adapters/discord/internal/rest", "adapters/discord/internal/snowflake",
	},
	// the fake
	"adapters/discord/*": {"adapters/internal/fakeserver", "adapters/discord/discordtest/internal/*"},

	"adapters/slack/slacktest/internal/*": {"adapters/internal/fakeserver", "adapters/slack/slacktest/internal/*"},
	"adapters/discord/discordtest/internal/*": {
		"adapters/internal/fakeserver", "adapters/discord/discordtest/internal/*",
	},

	"adapters/openharness": {
		"core", "core/inflight", "core/live", "core/mask", "core/question", "adapters/access", "adapters/internal/*",
		"adapters/openharness/internal/*", "adapters/wording",
	},
	"adapters/openharness/internal/*":       {"core/strictjson", "adapters/internal/*"}, // the messages
	"adapters/openharness/internal/waiting": {"core"},
	"adapters/openharness/internal/delta":   {"core/live", "adapters/internal/*"},
	"adapters/agents": {
		"core", "core/inflight", "core/question", "core/strictjson", "core/tool", "adapters/access",
		"adapters/internal/intake",
	},
	"adapters/web": {
		"core", "core/greeting", "core/inflight", "core/keylock", "core/question", "core/mask", "adapters/access",
		"adapters/internal/*",
		"adapters/wording",
	},

	// What a server's definitions mean is read with what tools are.
	"adapters/mcp/internal/schema": {"core/mask", "core/strictjson", "core/tool"},

	// Discord's packages import each other in one direction.
	"adapters/discord/internal/rest": {"core", "adapters/internal/*", "adapters/discord/internal/snowflake"},
	"adapters/discord/internal/guilds": {
		"core", "adapters/internal/*", "adapters/discord/internal/memo", "adapters/discord/internal/snowflake",
		"adapters/discord/internal/rest",
	},
	"adapters/discord/internal/gateway": {
		"core", "core/retry", "adapters/internal/*", "adapters/discord/internal/address",
		"adapters/discord/internal/snowflake", "adapters/discord/internal/rest",
	},
	"adapters/discord/internal/doctor": {
		"core", "adapters/internal/*", "adapters/discord/internal/address", "adapters/discord/internal/snowflake",
		"adapters/discord/internal/rest", "adapters/discord/internal/guilds", "adapters/discord/internal/gateway",
	},
}

// standardOnly are the packages that import no module but the standard library.
var standardOnly = []string{"core", "core/inflight", "core/strictjson", "core/mask", "core/question"}

// topLevel lists the entries of the repository's top level. A name that begins with a dot is free.
var topLevel = []string{
	"cmd", "core", "approvals", "adapters", "storage", "config.example.env", "Dockerfile", "README.md", "LICENSE",
	"go.mod", "go.sum",
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func TestLaw10_CoreKnowsNoPlatformNoDatabaseNoVendor(t *testing.T) {
	for _, p := range packages(t) {
		room := strings.TrimPrefix(p.ImportPath, "gatehouse/")
		if strings.HasPrefix(room, "cmd/") {
			continue
		}
		allowed, known := layers[room]
		if !known {
			allowed = layers[path.Dir(room)+"/*"]
		}
		for _, imported := range p.Imports {
			ours, isOurs := strings.CutPrefix(imported, "gatehouse/")
			if isOurs && !slices.ContainsFunc(allowed, func(pattern string) bool {
				ok, _ := path.Match(pattern, ours)
				return ok
			}) {
				t.Errorf("%s imports %s; it may import only %v", room, ours, allowed)
			}
			if !isOurs && slices.Contains(standardOnly, room) &&
				strings.Contains(strings.Split(imported, "/")[0], ".") {
				t.Errorf("%s imports %s; it may import only the standard library", room, imported)
			}
			if strings.HasPrefix(room, "core") && room != "core/llm/llmtest" && forbiddenInCore(imported) {
				t.Errorf("%s imports %s: core knows no platform, no database and no vendor", room, imported)
			}
		}
	}
}

func forbiddenInCore(imported string) bool {
	for _, part := range []string{
		"slack", "discord", "sqlite", "pgx", "database/sql", "openai", "anthropic", "opentelemetry", "net/http",
	} {
		if strings.Contains(imported, part) {
			return true
		}
	}
	return false
}

func TestLaw10_NoPlatformIsNamedInCore(t *testing.T) {
	for _, room := range []string{".", "mask", "audit", "retry", "graph", "chat", "dispatch", "outbox", "schedule"} {
		files, err := os.ReadDir(room)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
				continue
			}
			text, err := os.ReadFile(path.Join(room, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			for n, line := range strings.Split(string(text), "\n") {
				code, _, _ := strings.Cut(line, "//") // comments may give examples
				for _, name := range []string{"slack", "discord", "console", "sqlite", "postgres"} {
					if strings.Contains(strings.ToLower(code), name) {
						t.Errorf("%s/%s:%d names %s", room, f.Name(), n+1, name)
					}
				}
			}
		}
	}
}

func TestTopLevelHoldsOnlyTheAgreedEntries(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(e.Name(), "gatehouse") &&
			!slices.Contains(topLevel, e.Name()) {
			t.Errorf("%s is at the top level", e.Name())
		}
	}
}

// TestAPackageIsOneIdea: one of more files is two.
func TestAPackageIsOneIdea(t *testing.T) {
	const maxFiles = 25 // tests aside, those of other systems too
	files := map[string]int{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			files[filepath.Dir(file)]++
		}
		return err
	})
	if err != nil || len(files) < 50 {
		t.Fatalf("%d packages: %v", len(files), err)
	}
	for folder, n := range files {
		if n > maxFiles {
			t.Errorf("%s has %d files; a package has at most %d", folder, n, maxFiles)
		}
	}
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "gatehouse/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}
