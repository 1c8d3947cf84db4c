package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// TestExampleNamesEveryKey fails if a key is read and is not in config.example.env, or the other way round, and if a
// default differs or the comment is missing.
func TestExampleNamesEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../../../config.example.env")
	if err != nil {
		t.Fatal(err)
	}
	if first, _, found := strings.Cut(string(text), "\n# Rarely needed\n"); !found ||
		len(regexp.MustCompile(`(?m)^[A-Z_]+=`).FindAllString(first, -1)) != 10 {
		t.Error("it does not begin with the ten settings that matter")
	}
	example, comment := map[string]string{}, false
	for _, line := range strings.Split(string(text), "\n") {
		key, value, found := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "#"):
			comment = true
			continue
		case found && !comment:
			t.Errorf("%s has no comment before it", key)
		case found:
			if _, twice := example[key]; twice {
				t.Errorf("%s is there twice", key)
			}
			example[key] = value
		}
		comment = false
	}
	read := readInSource(t)
	for _, key := range read {
		if _, ok := example[key]; !ok {
			t.Errorf("%s is read but is not in config.example.env", key)
		}
	}
	for key := range example {
		if !slices.Contains(read, key) {
			t.Errorf("%s is in config.example.env but nothing reads it", key)
		}
	}
	cfg := source.config()
	for _, s := range cfg.describe() {
		if example[s.Key] != s.initial {
			t.Errorf("%s has the default %q in config.example.env, want %q", s.Key, example[s.Key], s.initial)
		}
		if s.Meaning == "" {
			t.Errorf("%s has no help", s.Key)
		}
	}
}

// readInSource finds the keys that the programs of this repository read.
func readInSource(t *testing.T) []string {
	t.Helper()
	keys := source.Keys()
	literal := regexp.MustCompile(`(?:envconfig:"|(?:Getenv|LookupEnv)\(")([A-Z][A-Z0-9_]*)"`)
	err := filepath.WalkDir("../../../..", func(path string, d fs.DirEntry, err error) error {
		// bench starts bots of others, too; a suite reads what tests read
		if err == nil && d.IsDir() && (d.Name() == "bench" || d.Name() == "adaptertest") {
			return filepath.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if !strings.Contains(line, "env") && !strings.Contains(line, "Env") {
				continue // the expression is slow
			}
			for _, m := range literal.FindAllStringSubmatch(line, -1) {
				if !strings.HasPrefix(m[1], "GATEHOUSE_TEST_") {
					keys = append(keys, m[1])
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func TestDefaultsAreValid(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "") // counts as not set
	}
	cfg, all, err := source.Load()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Workers != 512 || cfg.TurnMemory != 256<<20 || cfg.MaxMessage != 1<<20 || cfg.Retention.Hours() != 90*24 ||
		cfg.ApprovalTimeout != 0 || cfg.Agent != "demo" {
		t.Errorf("got %+v", cfg)
	}
	for _, s := range all {
		if s.Source != fromDefault {
			t.Errorf("%s comes from %s", s.Key, s.Source)
		}
	}
}

// A secret must be a string: the error of any other type of setting shows the value.
func TestSecretsAreTexts(t *testing.T) {
	cfg := source.config()
	for _, part := range cfg.parts() {
		for field := range reflect.TypeOf(part).Elem().Fields() {
			if field.Tag.Get("secret") != "" && field.Type.Kind() != reflect.String {
				t.Errorf("%s is a secret of type %s", field.Name, field.Type)
			}
		}
	}
}

// TestTheEnvironmentIsRestored: secret files, empty variables and invalid values change the environment only while it
// is read.
func TestTheEnvironmentIsRestored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("sqlite:from-file.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	os.Unsetenv("GATEHOUSE_DATABASE_URL")
	t.Setenv("GATEHOUSE_DATABASE_URL_FILE", file)
	t.Setenv("GATEHOUSE_WORKERS", "many")
	t.Setenv("GATEHOUSE_LEASE", "soon")
	before := os.Environ()
	for range 2 {
		cfg, _, faults := source.Read()
		if cfg.DatabaseURL != "sqlite:from-file.db" || len(faults) != 2 {
			t.Errorf("got %q, %q", cfg.DatabaseURL, faults)
		}
	}
	after := os.Environ()
	slices.Sort(before)
	slices.Sort(after)
	if !slices.Equal(before, after) {
		t.Errorf("the environment was\n%q\nand is\n%q", before, after)
	}
}

// TestShortRetentionIsRefused: a message that is delivered again after it was pruned would be answered again.
func TestShortRetentionIsRefused(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	for value, fault := range map[string]string{
		"0s": "", "24h": "", "2160h": "", "23h59m": "is too short; use 24h or more, or 0s to keep everything",
		"-1h": "must not be negative",
	} {
		t.Setenv("GATEHOUSE_RETENTION", value)
		_, _, faults := source.Read()
		if text := strings.Join(faults, "\n"); (text == "") != (fault == "") || !strings.Contains(text, fault) ||
			fault != "" && !strings.HasPrefix(text, "GATEHOUSE_RETENTION: ") {
			t.Errorf("%s: the faults are %q, want %q", value, faults, fault)
		}
	}
}

func TestSizes(t *testing.T) {
	for in, want := range map[string]Bytes{"1": 1, "64KiB": 65536, "1 MiB": 1 << 20, "2GiB": 2 << 30, "-1": -1} {
		var got Bytes
		if err := got.Decode(in); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "1KB", "1.5MiB", "99999999999", "KiB"} {
		if err := new(Bytes).Decode(in); err == nil {
			t.Errorf("%q is taken for a size", in)
		}
	}
}

func TestMask(t *testing.T) {
	for _, tc := range []struct{ kind, in, want string }{
		{"", "plain", "plain"}, {"true", "xoxb-1", "••••••"}, {"true", "", ""},
		{"url", "sqlite:gate house.db", "sqlite:gate house.db"},
		{"url", "postgres://u:p@h/d?sslpassword=p&x=1", "postgres://u:xxxxx@h/d?sslpassword=xxxxx&x=1"},
		{"url", "postgres://u:p%@h", "••••••"},
		{"url", "postgres://u:p w@h", "••••••"}, {"url", "postgres://u@h/d", "postgres://u@h/d"},
		{"", "https://u:hunter2@h/api/?x=1", "https://u:xxxxx@h/api/?x=1"},
		{"", "https://u:a@hunter2@h/", "https://u:xxxxx@h/"},
		{"", "https://hunter2@h/1", "https://xxxxx@h/1"}, {"", "https://:hunter2@h", "https://:xxxxx@h"},
		{
			"", "https://h/?password=hunter2&X-Amz-Signature=hunter2&n=5;api_key=hunter2&%74oken=hunter2",
			"https://h/?password=xxxxx&X-Amz-Signature=xxxxx&n=5;api_key=xxxxx&%74oken=xxxxx",
		},
		{"", "https://h/#access_token=hunter2&n=5", "https://h/#access_token=xxxxx&n=5"},
		{"", "https://h/?client_secret=&sig", "https://h/?client_secret=&sig"},
		{"", "me:hunter2@proxy:3128", "me:xxxxx@proxy:3128"}, {"", "http://me:hun/ter2@proxy", "••••••"},
		{"", "http://me:12/hunter2@proxy", "••••••"},
		{"", "http://a:hunter2@b:1,http://c:hunter2@d:2", "http://a:xxxxx@b:1,http://c:xxxxx@d:2"},
		{"", "http://h/?u=http://c:hunter2@d", "http://h/?u=http://c:xxxxx@d"},
		{"url", "me:hunter2@localhost", "me:xxxxx@localhost"}, {"", "sqlite:a@b.db", "sqlite:a@b.db"},
		{"", "slack:U123,discord:role:789", "slack:U123,discord:role:789"},
		{"", "https://discord.com/api/v10", "https://discord.com/api/v10"}, {"", "127.0.0.1:8080", "127.0.0.1:8080"},
	} {
		if got := Mask(tc.kind, tc.in); got != tc.want {
			t.Errorf("Mask(%q, %q) = %q, want %q", tc.kind, tc.in, got, tc.want)
		}
	}
}

func TestMaskURLsInATextOfAnError(t *testing.T) {
	for in, want := range map[string]string{
		`SLACK_API_URL: "ftp://u:hunter2@h" does not have the form https://HOST/api/`: `SLACK_API_URL: ` +
			`"ftp://u:xxxxx@h" does not have the form https://HOST/api/`,
		`DISCORD_API_URL: "u:hunter2@h" is not of the form https://HOST/api/v10`: `DISCORD_API_URL: ` +
			`"u:xxxxx@h" is not of the form https://HOST/api/v10`,
		`invalid proxy address "http://me:hunter2@p:x": parse "http://me:hunter2@p:x": port`: `invalid proxy ` +
			`address "••••••": parse "••••••": port`,
		`It can't be reached at https://h/?key=hunter2 (EOF). See https://h/help.`: `It can't be reached ` +
			`at https://h/?key=xxxxx (EOF). See https://h/help.`,
		"this is not of the form http://HOST:PORT": "this is not of the " +
			"form http://HOST:PORT",
		"The bot is @gatehouse (U1): ask ann@example.org at " +
			"12:30.": "The bot is @gatehouse (U1): ask ann@example.org at 12:30.",
	} {
		if got := MaskURLs(in); got != want {
			t.Errorf("%s\nbecame %s\nwant   %s", in, got, want)
		}
	}
}

// TestEveryShownSettingIsMasked: whatever its tag, no setting shows the password or the key of a URL, nor does a fault.
func TestEveryShownSettingIsMasked(t *testing.T) {
	const address, masked = "https://me:hunter2@host.example/api?token=hunter2&sig=hunter2",
		"https://me:xxxxx@host.example/api?token=xxxxx&sig=xxxxx"
	for _, key := range source.Keys() {
		t.Setenv(key, "")
		if !strings.HasSuffix(key, "_FILE") {
			t.Setenv(key, address)
		}
	}
	for _, key := range []string{
		"HTTP_PROXY", "https_proxy", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
	} {
		t.Setenv(key, address)
	}
	t.Setenv("NO_PROXY", "me:hunter2@host.example,localhost")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "team=blue,api.key=hunter2")
	_, all, faults := source.Read()
	if len(faults) == 0 {
		t.Fatal("there are no faults")
	}
	for _, fault := range faults {
		if strings.Contains(fault, "hunter2") {
			t.Errorf("a fault shows a secret: %s", fault)
		}
	}
	shown := map[string]string{}
	for _, s := range append(all, source.Standard()...) {
		shown[s.Key] = s.Value
		if strings.Contains(s.Value, "hunter2") {
			t.Errorf("%s is shown as %s", s.Key, s.Value)
		}
	}
	for key, want := range map[string]string{
		"SLACK_API_URL": masked, "HTTP_PROXY": masked, "https_proxy": masked,
		"NO_PROXY": "me:xxxxx@host.example,localhost", "GATEHOUSE_WORKERS": masked,
		"OTEL_EXPORTER_OTLP_ENDPOINT": masked, "OTEL_EXPORTER_OTLP_LOGS_HEADERS": "••••••",
		"OTEL_EXPORTER_OTLP_HEADERS": "••••••",
		"OTEL_RESOURCE_ATTRIBUTES":   "team=blue,api.key=xxxxx",
	} {
		if shown[key] != want {
			t.Errorf("%s is shown as %q, want %q", key, shown[key], want)
		}
	}
}

func TestRepliesReplaceEverySentence(t *testing.T) {
	said, err := loadReplies("")
	if err != nil {
		t.Fatal(err)
	}
	all := said.sentences()
	fields := 0
	for _, texts := range []any{said.Replies, said.Sentences, wording.Texts{}} {
		fields += reflect.TypeOf(texts).NumField()
	}
	known := map[string]bool{}
	yaml := ""
	for _, w := range all {
		if known[w.key] {
			t.Errorf("there are two texts %s", w.key)
		}
		known[w.key] = true
		if !w.err {
			fields--
		}
		yaml += w.key + ": " + strconv.Quote("new: "+*w.to) + "\n"
	}
	if fields != 0 {
		t.Errorf("%d texts can't be replaced", fields)
	}
	file := filepath.Join(t.TempDir(), "replies.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err = loadReplies(file); err != nil {
		t.Fatal(err)
	}
	for _, w := range said.sentences() {
		text := *w.to
		switch {
		case w.err:
			text = said.Errors[core.Category(w.key)]
		case w.card:
			text = said.Words[w.key]
		}
		if !strings.HasPrefix(text, "new: ") {
			t.Errorf("%s was not replaced", w.key)
		}
	}
}

// TestATextOfACardThatDoesNotFitIsRefused, with its line and its key.
func TestATextOfACardThatDoesNotFitIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "replies.yaml")
	for text, fault := range map[string]string{
		"button_aprove: Yes": `replies.yaml:1:1: unknown key "button_aprove" in the file; did you mean button_approve?`,
		"button_approve: ''": `replies.yaml:1:17: button_approve is empty; write a text, such as "Approve"`,
		"somebody_on_web: X": "replies.yaml:1:18: somebody_on_web has no {name}; write it where that is to stand",
		"no_arguments: {a}":  "no_arguments is a mapping, not a text",
		`button_deny: "{a}"`: "replies.yaml:1:14: button_deny must not have {a}; leave it out: nothing is put in there",
		`button_deny: "a\nb"`: "replies.yaml:1:14: button_deny has a line break or another control character; write " +
			"it on one line",
		"button_deny: No, this is not what should be done": "replies.yaml:1:14: button_deny is too long for a card: " +
			"it has more than 24 characters; say it shorter",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := loadReplies(file); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want %q", text, err, fault)
		}
	}
}

// TestTheSystemPromptIsRead: it is there, or there is a fault that names the line; where no file is set there is none.
func TestTheSystemPromptIsRead(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	if cfg, _, err := source.Load(); err != nil || cfg.SystemPrompt != nil || len(cfg.Unused()) != 0 {
		t.Errorf("%+v, %v", cfg.SystemPrompt, err)
	}
	file := filepath.Join(t.TempDir(), "system.txt")
	t.Setenv("GATEHOUSE_SYSTEM_PROMPT_FILE", file)
	for text, fault := range map[string]string{
		"You are on {{ platform }}.\n": "", "Hi\n{{ user }}": file + ":2:1: there is no variable user",
		" ": file + ": the file is empty",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := source.Load()
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v, want %q", text, err, fault)
		}
		if err == nil && (cfg.SystemPrompt == nil || len(cfg.Unused()) != 1) {
			t.Errorf("%q: %+v, %v", text, cfg.SystemPrompt, cfg.Unused())
		}
		if _, _, err := source.LoadForCommands(); err != nil {
			t.Errorf("%q: a command fails: %v", text, err)
		}
	}
}

// TestStreamingNamesThePlacesThatCan: what can't yet is refused in a sentence that says so.
func TestStreamingNamesThePlacesThatCan(t *testing.T) {
	for value, want := range map[string]string{
		"": "openharness console", "all": "openharness console", "none": "", "web": "openharness",
		"console, web": "console openharness",
		"slack": "slack does not show text as it is written, not yet; " +
			"use all, none, or a list of web and console",
		"web,discord": "discord does not show text as it is written, not yet; " +
			"use all, none, or a list of web and console",
		"page": `unknown place "page"; use all, none, or a list of web and console`,
		",":    `"," names nothing; use all, none, or a list of web and console`,
	} {
		t.Setenv("GATEHOUSE_STREAMING", value)
		cfg, _, faults := source.Read()
		faults = slices.DeleteFunc(faults, func(f string) bool { return keyOf(f) != "GATEHOUSE_STREAMING" })
		got := strings.Join(append(cfg.Streamed, faults...), " ")
		if len(faults) > 0 {
			got = strings.TrimPrefix(faults[0], "GATEHOUSE_STREAMING: ")
		}
		if got != want {
			t.Errorf("%q: %s", value, got)
		}
	}
}
