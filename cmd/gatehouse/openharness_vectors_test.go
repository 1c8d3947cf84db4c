package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/core"
)

// ohCase is one case of the OpenHarness vectors. Unknown members of an expectation are refused: they would not be
// checked.
type ohCase struct {
	ID      string
	Decided string `json:"decided_by"`
	Given   struct {
		Run   string `json:"suspended_run"`
		Turn  string
		Clock string
	}
	HTTP struct {
		Method  string
		Headers map[string]*string
	}
	ohStep
	Steps []ohStep
}

type ohStep struct {
	Request  json.RawMessage
	Raw      *string `json:"request_raw"`
	Gen      *ohGen  `json:"request_gen"`
	Expect   json.RawMessage
	Parallel int
	Template string `json:"request_id_template"`
}

type ohGen struct {
	Base json.RawMessage
	Set  map[string]ohGenerated
}

type ohGenerated struct {
	Repeat, Prefix, Nest string
	Count, Depth         int
	ManyKeys             int `json:"many_keys"`
}

type ohExpected struct {
	Status        *string
	ErrorCode     any `json:"error_code"`
	Retryable     *bool
	HTTPStatus    any   `json:"http_status"`
	TurnStarted   *bool `json:"turn_started"`
	Echo          map[string]string
	Field         string   `json:"details_field"`
	NotContain    []string `json:"must_not_contain"`
	NotLog        []string `json:"must_not_log"`
	NotStore      []string `json:"must_not_store"`
	Denials       []struct{ Capability, Code string }
	DenialsIn     []struct{ Capability, Code string } `json:"denials_include"`
	DenialsOut    []string                            `json:"denials_exclude"`
	Last          string                              `json:"directives_last_action_type"`
	Resumed       *bool                               `json:"resume_signalled"`
	Replayed      bool
	Details       map[string]any
	Invariants    []string // in prose: openharness_invariants_test.go
	DirectiveList []string `json:"directives_action_types"`
}

// ohRoot is the folder of the vectors; the test is skipped without it.
func ohRoot(t *testing.T) string {
	t.Helper()
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no OpenHarness vectors were run. Set GATEHOUSE_FIXTURES to the folder that holds openharness.")
	}
	return filepath.Join(root, "openharness")
}

var responseSchema = sync.OnceValue(func() *jsonschema.Schema {
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		return nil
	}
	schema, err := jsonschema.NewCompiler().Compile(
		filepath.Join(root, "openharness/golden/schema/openharness-v1.draft.json") + "#/$defs/responseMessage")
	if err != nil {
		panic(err)
	}
	return schema
})

// TestOpenHarnessVectors runs every request of the vectors against a running gatehouse serve, each under a principal of
// its own.
func TestOpenHarnessVectors(t *testing.T) {
	root := ohRoot(t)
	files, err := filepath.Glob(filepath.Join(root, "authored/request/*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in %s: %v", root, err)
	}
	var cases []ohCase
	var tokens []string
	for i, file := range files {
		var c ohCase
		readCase(t, file, &c)
		cases = append(cases, c)
		tokens = append(tokens, fmt.Sprintf("p%d!=%s", i, ohToken(i)))
	}
	for i := range 2 {
		tokens = append(tokens, fmt.Sprintf("p%d!=%s", len(cases)+i, ohToken(len(cases)+i)))
	}
	usual := newEngine(t, sqliteFile, tokens)
	hasty := newEngine(t, sqliteFile, tokens, "GATEHOUSE_APPROVAL_TIMEOUT=1s")
	for i, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			p := *usual
			if c.Given.Clock != "" {
				p = *hasty
			}
			p.t = t
			runVector(t, &ohRunner{p: &p, name: fmt.Sprintf("p%d", i), shell: newShell(t, p.at, ohToken(i))}, c)
		})
	}
	t.Run("golden", func(t *testing.T) {
		for i, name := range []string{"minimal", "im-cli"} {
			p := *usual
			p.t = t
			body, err := os.ReadFile(filepath.Join(root, "golden/examples", name, "request.json"))
			noErr(t, err)
			s := newShell(t, p.at, ohToken(len(cases)+i))
			if got := s.post(body); got.Answer.ProtocolVersion != "1.0.0" || got.Answer.RequestID == nil ||
				got.Answer.Response.Status != "success" && got.code() != "continuation_invalid" {
				t.Errorf("%s: %d %s", name, got.Status, got.Raw)
			}
		}
	})
}

func ohToken(i int) string { return fmt.Sprintf("token-of-principal-%04d", i) }

func readCase(t *testing.T, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// ohRunner runs one case.
type ohRunner struct {
	p     *serveProcess
	name  string
	shell *shell
	fill  []string // the placeholders and their values
}

func runVector(t *testing.T, r *ohRunner, c ohCase) {
	for name, value := range c.HTTP.Headers {
		if value == nil {
			r.shell.header[http.CanonicalHeaderKey(name)] = nil
		} else {
			r.shell.header.Set(name, *value)
		}
	}
	r.prepare(t, c)
	steps := c.Steps
	if len(steps) == 0 {
		steps = []ohStep{c.ohStep}
	}
	var before reply
	for n, s := range steps {
		var want ohExpected
		d := json.NewDecoder(bytes.NewReader(s.Expect))
		d.DisallowUnknownFields()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("step %d: the expectation can't be checked: %v", n+1, err)
		}
		if s.Parallel > 0 {
			r.parallel(t, s)
			continue
		}
		turns, signals := r.counts()
		got := r.send(t, c, s)
		r.compare(t, want, got)
		if want.Replayed && !bytes.Equal(before.Raw, got.Raw) {
			t.Errorf("the replayed answer differs:\n%s\n%s", before.Raw, got.Raw)
		}
		turnsNow, signalsNow := r.counts()
		if started := turnsNow > turns; want.TurnStarted != nil && started != *want.TurnStarted {
			t.Errorf("a turn was started: %v", started)
		}
		if resumed := signalsNow > signals; want.Resumed != nil && resumed != *want.Resumed {
			t.Errorf("the run was resumed: %v", resumed)
		}
		before = got
	}
}

// prepare brings about what the case says is given.
func (r *ohRunner) prepare(t *testing.T, c ohCase) {
	t.Helper()
	if c.Given.Run != "" {
		first := r.shell.must(r.shell.send(request("setup", "s1", "note add milk")))
		card := first.card()
		r.fill = []string{
			"{{run_id}}", card.Payload.RunID, "{{approve_token}}", card.choice("approve").Token,
			"{{deny_token}}", card.choice("deny").Token,
			"{{status_token}}", card.own().Status.Token,
		}
		if slices.Contains(r.fill, "") {
			t.Fatalf("the suspended run lacks a token: %s", first.Raw)
		}
	}
	if c.Given.Clock != "" {
		r.p.until("the approval expires", nil, func() bool {
			return slices.ContainsFunc(r.p.approvals(core.Expired), func(a core.Approval) bool {
				return a.Requester.Name == r.name
			})
		})
	}
	switch turn := c.Given.Turn; {
	case turn == "", turn == "suspended":
	case strings.HasPrefix(turn, "errored "):
		r.shell.must(r.shell.send(request("setup", "s1", "hello")))
		_, category, _ := strings.Cut(strings.TrimPrefix(turn, "errored "), "/")
		spoil(t, r.p.url, "openharness:oh/"+r.name+"/s1", core.Category(category))
	default:
		t.Fatalf("the case needs a turn that is %q, which this test can't bring about", turn)
	}
}

func (r *ohRunner) counts() (turns, signals int) {
	for _, e := range r.p.events(core.EventFilter{Platform: "openharness"}) {
		if e.Actor.ID != "openharness:"+r.name && e.Kind() != core.KindSignal {
			continue
		}
		switch e.Kind() {
		case core.KindMessage:
			turns++
		case core.KindSignal:
			if strings.HasPrefix(string(e.Conversation), "openharness:oh/"+r.name+"/") {
				signals++
			}
		}
	}
	return turns, signals
}

func (r *ohRunner) send(t *testing.T, c ohCase, s ohStep) reply {
	t.Helper()
	var body []byte
	switch {
	case s.Raw != nil:
		body = []byte(*s.Raw)
	case s.Gen != nil:
		body = s.Gen.build(t)
	default:
		body = []byte(strings.NewReplacer(r.fill...).Replace(string(s.Request)))
	}
	if c.Given.Turn == "suspended" {
		body = bytes.Replace(body, []byte(`"hello"`), []byte(`"note add milk"`), 1)
	}
	method := http.MethodPost
	if c.HTTP.Method != "" {
		method = c.HTTP.Method
	}
	got, err := r.shell.try(method, bytes.NewReader(body))
	noErr(t, err)
	return got
}

// parallel sends a decision many times at once, under different ids: one counts.
func (r *ohRunner) parallel(t *testing.T, s ohStep) {
	t.Helper()
	var mu sync.Mutex
	codes := map[string]int{}
	var all sync.WaitGroup
	for n := range s.Parallel {
		all.Go(func() {
			var m map[string]any
			if err := json.Unmarshal([]byte(strings.NewReplacer(r.fill...).Replace(string(s.Request))),
				&m); err != nil {
				t.Error(err)
				return
			}
			m["request_id"] = strings.ReplaceAll(s.Template, "{n}", fmt.Sprint(n))
			body, _ := json.Marshal(m)
			got, err := r.shell.try(http.MethodPost, bytes.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			codes[got.code()]++
		})
	}
	all.Wait()
	if _, signals := r.counts(); signals != 1 || codes[""] != 1 || codes["continuation_invalid"] != s.Parallel-1 {
		t.Errorf("%d signals; the answers were %v", signals, codes)
	}
	if next := r.shell.must(r.shell.send(request("after", "s1", "hello"))); len(next.texts()) != 1 {
		t.Errorf("the next answer says of the refused ones: %q", next.texts())
	}
}

func (r *ohRunner) compare(t *testing.T, want ohExpected, got reply) {
	t.Helper()
	if want.Status != nil && got.Answer.Response.Status != *want.Status {
		t.Errorf("status %s, want %s: %s", got.Answer.Response.Status, *want.Status, got.Raw)
	}
	if want.ErrorCode != nil && !among(got.code(), want.ErrorCode) ||
		want.ErrorCode == nil && got.code() != "" && want.Status != nil && *want.Status == "success" {
		t.Errorf("code %q, want %v: %s", got.code(), want.ErrorCode, got.Raw)
	}
	if want.Retryable != nil &&
		(got.Answer.Response.Error == nil || got.Answer.Response.Error.Retryable != *want.Retryable) {
		t.Errorf("retryable differs, want %v: %s", *want.Retryable, got.Raw)
	}
	if want.HTTPStatus != nil && !among(float64(got.Status), want.HTTPStatus) {
		t.Errorf("HTTP status %d, want %v", got.Status, want.HTTPStatus)
	}
	for key, value := range want.Echo {
		echoed := map[string]*string{
			"request_id": got.Answer.RequestID, "correlation_id": got.Answer.CorrelationID,
		}[key]
		if value == "absent" && echoed != nil || value != "absent" && (echoed == nil || *echoed != value) {
			t.Errorf("%s is not echoed as %q: %s", key, value, got.Raw)
		}
	}
	if want.Field != "" &&
		(got.Answer.Response.Error == nil || got.Answer.Response.Error.Details["field"] != want.Field) {
		t.Errorf("details.field is not %q: %s", want.Field, got.Raw)
	}
	for key, value := range want.Details {
		if got.Answer.Response.Error == nil || got.Answer.Response.Error.Details[key] != value {
			t.Errorf("details.%s is not %v: %s", key, value, got.Raw)
		}
	}
	for _, d := range append(want.DenialsIn, want.Denials...) {
		if !slices.Contains(got.Answer.Denials, d) {
			t.Errorf("%v is not denied: %s", d, got.Raw)
		}
	}
	for _, name := range want.DenialsOut {
		if slices.ContainsFunc(got.Answer.Denials, func(d struct{ Capability, Code string }) bool {
			return d.Capability == name
		}) {
			t.Errorf("%s is denied", name)
		}
	}
	all := got.Answer.Response.Directives
	if want.Last != "" && (len(all) == 0 || all[len(all)-1].ActionType != want.Last) {
		t.Errorf("the last directive is not %s: %s", want.Last, got.Raw)
	}
	for _, secret := range want.NotContain {
		if bytes.Contains(got.Raw, []byte(secret)) {
			t.Errorf("the answer has %q", secret)
		}
	}
	for _, secret := range want.NotLog {
		if strings.Contains(r.p.app.out.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	for _, secret := range want.NotStore {
		for _, file := range stored(t, r.p.url) {
			if text, err := os.ReadFile(file); err != nil || bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s has %q (%v)", file, secret, err)
			}
		}
	}
}

// stored are the files of a database.
func stored(t *testing.T, url string) []string {
	t.Helper()
	files, err := filepath.Glob(strings.TrimPrefix(url, "sqlite:") + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no database at %s: %v", url, err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "lock") })
}

func among(got, want any) bool {
	if list, ok := want.([]any); ok {
		return slices.Contains(list, got)
	}
	return got == want
}

func (g *ohGen) build(t *testing.T) []byte {
	t.Helper()
	var base map[string]any
	noErr(t, json.Unmarshal(g.Base, &base))
	marks := []string{}
	for path, how := range g.Set {
		keys := strings.Split(path, ".")
		at := base
		for _, key := range keys[:len(keys)-1] {
			next, ok := at[key].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[key] = next
			}
			at = next
		}
		mark := "@@" + path + "@@"
		at[keys[len(keys)-1]] = mark
		marks = append(marks, `"`+mark+`"`, how.text())
	}
	body, err := json.Marshal(base)
	noErr(t, err)
	return []byte(strings.NewReplacer(marks...).Replace(string(body)))
}

func (g ohGenerated) text() string {
	switch {
	case g.Nest == "array":
		return strings.Repeat("[", g.Depth) + strings.Repeat("]", g.Depth)
	case g.Nest == "object":
		return strings.Repeat(`{"a":`, g.Depth) + "1" + strings.Repeat("}", g.Depth)
	case g.ManyKeys > 0:
		var keys []string
		for n := range g.ManyKeys {
			keys = append(keys, fmt.Sprintf(`"k%d":true`, n))
		}
		return "{" + strings.Join(keys, ",") + "}"
	}
	return `"` + g.Prefix + strings.Repeat(g.Repeat, g.Count) + `"`
}

// spoil changes the stored session so that its next turn fails with a category.
func spoil(t *testing.T, url, conversation string, category core.Category) {
	t.Helper()
	if category != core.SessionLoadFailed {
		t.Fatalf("this test can't bring about %s", category)
	}
	db, err := sql.Open("sqlite3", strings.TrimPrefix(url, "sqlite:"))
	noErr(t, err)
	defer db.Close()
	done, err := db.Exec(`update sessions set state = '{' where id like ?`, conversation+"%")
	noErr(t, err)
	if n, _ := done.RowsAffected(); n != 1 {
		t.Fatalf("%d sessions were changed", n)
	}
}
