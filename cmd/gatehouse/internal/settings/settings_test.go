package settings

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
)

// TestExampleNamesEveryKey fails if a key is read and is not in config.example.env, or the other way round, and if a default differs or
// the comment is missing.
func TestExampleNamesEveryKey(t *testing.T) {
	text, err := os.ReadFile("../../../../config.example.env")
	if err != nil {
		t.Fatal(err)
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
	for _, s := range describe(new(Config).parts()...) {
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
	keys := Keys()
	literal := regexp.MustCompile(`(?:envconfig:"|(?:Getenv|LookupEnv)\(")([A-Z][A-Z0-9_]*)"`)
	err := filepath.WalkDir("../../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range literal.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], "GATEHOUSE_TEST_") {
				keys = append(keys, m[1])
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
	for _, key := range Keys() {
		t.Setenv(key, "") // counts as not set
	}
	cfg, all, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Workers != 8 || cfg.MaxMessage != 1<<20 || cfg.Retention.Hours() != 90*24 || cfg.ApprovalTimeout != 0 || cfg.Agent != "demo" {
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
	for _, part := range new(Config).parts() {
		for field := range reflect.TypeOf(part).Elem().Fields() {
			if field.Tag.Get("secret") != "" && field.Type.Kind() != reflect.String {
				t.Errorf("%s is a secret of type %s", field.Name, field.Type)
			}
		}
	}
}

// TestTheEnvironmentIsRestored: secret files, empty variables and invalid values change the environment only while it is read.
func TestTheEnvironmentIsRestored(t *testing.T) {
	file := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(file, []byte("sqlite:from-file.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, key := range Keys() {
		t.Setenv(key, "")
	}
	os.Unsetenv("GATEHOUSE_DATABASE_URL")
	t.Setenv("GATEHOUSE_DATABASE_URL_FILE", file)
	t.Setenv("GATEHOUSE_WORKERS", "many")
	t.Setenv("GATEHOUSE_LEASE", "soon")
	before := os.Environ()
	for range 2 {
		cfg, _, faults := Read()
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
		{"", "plain", "plain"}, {"true", "xoxb-1", "••••••"}, {"true", "", ""}, {"url", "sqlite:gate house.db", "sqlite:gate house.db"},
		{"url", "postgres://u:p@h/d?sslpassword=p&x=1", "postgres://u:xxxxx@h/d?sslpassword=xxxxx&x=1"}, {"url", "postgres://u:p%@h", "••••••"},
	} {
		if got := Mask(tc.kind, tc.in); got != tc.want {
			t.Errorf("Mask(%q, %q) = %q, want %q", tc.kind, tc.in, got, tc.want)
		}
	}
}

func TestRepliesReplaceEverySentence(t *testing.T) {
	var r chat.Replies
	var s dispatch.Sentences
	if got, want := len(wording(&r, &s)), reflect.TypeOf(r).NumField()+reflect.TypeOf(s).NumField(); got != want {
		t.Errorf("%d sentences can be replaced, there are %d", got, want)
	}
	r, s = chat.DefaultReplies, dispatch.DefaultSentences()
	yaml := ""
	for _, w := range wording(&r, &s) {
		yaml += w.key + ": \"new: " + *w.to + "\"\n"
	}
	file := filepath.Join(t.TempDir(), "replies.yaml")
	if err := os.WriteFile(file, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	r, s, err := loadReplies(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wording(&r, &s) {
		if !strings.HasPrefix(*w.to, "new: ") {
			t.Errorf("%s was not replaced", w.key)
		}
	}
}
