package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/adapters/openharness/internal/wire"
)

// fixtures is the folder of OpenHarness's fixtures: in GATEHOUSE_FIXTURES, or in ../shared/fixtures beside the
// repository. It is "" where there are none.
func fixtures() string {
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "..", "shared", "fixtures")
	}
	root = filepath.Join(root, "openharness")
	if _, err := os.Stat(root); err != nil {
		return ""
	}
	return root
}

func needFixtures(t testing.TB) string {
	t.Helper()
	root := fixtures()
	if root == "" {
		t.Skip("SKIPPED: nothing was compared with the protocol's schema and examples. Set GATEHOUSE_FIXTURES to the " +
			"folder that holds openharness.")
	}
	return root
}

func files(t testing.TB, patterns ...string) (all []string) {
	t.Helper()
	root := needFixtures(t)
	for _, p := range patterns {
		found, err := filepath.Glob(filepath.Join(root, p))
		if err != nil || len(found) == 0 {
			t.Fatalf("no files %s: %v", p, err)
		}
		all = append(all, found...)
	}
	return all
}

func readJSON(t testing.TB, file string, v any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// schemaOf compiles one definition of the protocol's schema. It returns what is wrong with a text.
func schemaOf(t testing.TB, definition string) func(text []byte) error {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(needFixtures(t), "golden/schema/openharness-v1.draft.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema:it", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema:it#/$defs/" + definition)
	if err != nil {
		t.Fatal(err)
	}
	return func(text []byte) error {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			return err
		}
		return s.Validate(doc)
	}
}

// step is a request of a fixture and what is expected of it.
type step struct {
	Request    json.RawMessage
	RequestRaw *string `json:"request_raw"`
	RequestGen *struct {
		Base map[string]any
		Set  map[string]generated
	} `json:"request_gen"`
	SchemaValid *bool `json:"schema_valid"`
	Expect      struct {
		ErrorCode      oneOrMore `json:"error_code"`
		Echo           map[string]string
		DetailsField   string              `json:"details_field"`
		MustNotContain []string            `json:"must_not_contain"`
		DenialsInclude []map[string]string `json:"denials_include"`
		DenialsExclude []string            `json:"denials_exclude"`
	}
}

type fixture struct {
	step
	Tags  []string
	Steps []step
}

// generated is a value that is too large to be written out.
type generated struct {
	Repeat, Prefix, Nest  string
	Count, Depth, ManyKey int
}

func (g *generated) UnmarshalJSON(text []byte) error {
	var v struct {
		Repeat, Prefix, Nest string
		Count, Depth         int
		ManyKeys             int `json:"many_keys"`
	}
	err := json.Unmarshal(text, &v)
	*g = generated{v.Repeat, v.Prefix, v.Nest, v.Count, v.Depth, v.ManyKeys}
	return err
}

func (g generated) text() string {
	switch {
	case g.Nest == "object":
		return strings.Repeat(`{"a":`, g.Depth) + "0" + strings.Repeat("}", g.Depth)
	case g.Nest != "":
		return strings.Repeat("[", g.Depth) + strings.Repeat("]", g.Depth)
	case g.ManyKey > 0:
		keys := make([]string, g.ManyKey)
		for i := range keys {
			keys[i] = fmt.Sprintf(`"k%d":true`, i)
		}
		return "{" + strings.Join(keys, ",") + "}"
	}
	return `"` + g.Prefix + strings.Repeat(g.Repeat, g.Count) + `"`
}

// oneOrMore is a string, several, or null.
type oneOrMore []string

func (o *oneOrMore) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(o))
	}
	*o = make([]string, 1)
	return json.Unmarshal(text, &(*o)[0])
}

func (s step) body(t *testing.T) []byte {
	t.Helper()
	switch {
	case s.RequestRaw != nil:
		return []byte(*s.RequestRaw)
	case s.RequestGen == nil:
		return s.Request
	}
	texts := map[string]string{}
	for path, g := range s.RequestGen.Set {
		at, keys := s.RequestGen.Base, strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			if at[key] == nil {
				at[key] = map[string]any{}
			}
			at = at[key].(map[string]any)
		}
		mark := fmt.Sprintf("@@%d@@", len(texts))
		at[keys[len(keys)-1]] = mark
		texts[`"`+mark+`"`] = g.text()
	}
	body, err := json.Marshal(s.RequestGen.Base)
	if err != nil {
		t.Fatal(err)
	}
	for mark, text := range texts {
		body = bytes.Replace(body, []byte(mark), []byte(text), 1)
	}
	return body
}

// TestFixtures: what the fixtures expect of a request before it is worked on. A refusal for another reason, such as a
// continuation that nobody issued, is accepted here.
func TestFixtures(t *testing.T) {
	valid, codes := schemaOf(t, "responseMessage"),
		[]string{wire.InvalidRequest, wire.VersionUnsupported, wire.InlineAttachment}
	for _, file := range files(t, "authored/request/*.json") {
		var f fixture
		readJSON(t, file, &f)
		if f.Steps == nil {
			f.Steps = []step{f.step}
		}
		for i, s := range f.Steps {
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(file), i), func(t *testing.T) {
				r, fault := wire.Decode(s.body(t), wire.Limits{})
				expected := slices.ContainsFunc(s.Expect.ErrorCode, func(code string) bool {
					return slices.Contains(codes, code)
				})
				if expected = expected && !slices.Contains(f.Tags, "http"); expected != (fault != nil) {
					t.Fatalf("refused %t, want %t: %+v", fault != nil, expected, fault)
				}
				response := wire.New(r)
				response.Body = wire.Body{Status: wire.Success}
				if fault != nil {
					if !slices.Contains(s.Expect.ErrorCode, fault.Code) ||
						s.Expect.DetailsField != "" && fault.Field != s.Expect.DetailsField {
						t.Errorf("%+v, want %v at %q", *fault, s.Expect.ErrorCode, s.Expect.DetailsField)
					}
					response.Body = refusal(fault)
				}
				text := response.Encode()
				if err := valid(text); err != nil {
					t.Errorf("%s: %v", text, err)
				}
				s.compare(t, text)
			})
		}
	}
}

func (s step) compare(t *testing.T, text []byte) {
	t.Helper()
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range s.Expect.Echo {
		if got[key] == nil {
			got[key] = "absent"
		}
		if got[key] != want {
			t.Errorf("%s is %v, want %s", key, got[key], want)
		}
	}
	for _, secret := range s.Expect.MustNotContain {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s holds %s", text, secret)
		}
	}
	denied := map[any]any{}
	denials, _ := got["capability_denials"].([]any)
	for _, d := range denials {
		denied[d.(map[string]any)["capability"]] = d.(map[string]any)["code"]
	}
	for _, want := range s.Expect.DenialsInclude {
		if denied[want["capability"]] != want["code"] {
			t.Errorf("denied are %v, want %v", denied, want)
		}
	}
	for _, id := range s.Expect.DenialsExclude {
		if denied[id] != nil {
			t.Errorf("%s is denied", id)
		}
	}
}

func refusal(f *wire.Fault) wire.Body {
	details := map[string]any{}
	if f.Field != "" {
		details["field"] = f.Field
	}
	return wire.Body{Status: wire.Failure, Error: &wire.Error{Code: f.Code, Message: f.Message, Details: details}}
}

// TestGoldenRequestsAreAccepted also reads their fields.
func TestGoldenRequestsAreAccepted(t *testing.T) {
	for _, file := range files(t, "golden/examples/*/request.json") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, fault := wire.Decode(text, wire.Limits{})
		if fault != nil || r.ID == "" || r.Session == "" || r.Intent == "" {
			t.Errorf("%s: %+v, %+v", file, r, fault)
		}
		if strings.Contains(file, "im-cli") &&
			(*r.Continuation != wire.Continuation{Run: "run_7d2", Token: "ctok_aq9"} ||
				!slices.Equal(r.Attachments,
					[]wire.Attachment{{RefID: "att_upload_01", MIMEType: "application/pdf", Filename: "brief.pdf"}}) ||
				!slices.Equal(r.Asked, []string{wire.Upload, wire.RichCards})) {
			t.Errorf("%s: %+v", file, r)
		}
	}
}

// TestGoldenResponsesAreEncoded: the examples pass through our types without a loss, apart from the fields that this
// engine doesn't send.
func TestGoldenResponsesAreEncoded(t *testing.T) {
	valid := schemaOf(t, "responseMessage")
	for _, file := range files(t, "golden/examples/*/response*.json", "authored/response/*.json") {
		var raw map[string]any
		readJSON(t, file, &raw)
		if raw["protocol_version"] == nil {
			raw = raw["response"].(map[string]any)
		}
		want, _ := json.Marshal(raw)
		var r wire.Response
		if err := json.Unmarshal(want, &r); err != nil {
			t.Fatal(err)
		}
		text := r.Encode()
		if err := valid(text); err != nil {
			t.Errorf("%s becomes %s: %v", file, text, err)
		}
		var got any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(unsent(raw))
		b, _ := json.Marshal(unsent(got))
		if string(a) != string(b) {
			t.Errorf("%s\n%s, want\n%s", file, b, a)
		}
	}
}

// unsent leaves out, at every depth, the fields that this engine doesn't send, and empty lists of denials.
func unsent(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = unsent(v[i])
		}
	case map[string]any:
		maps.DeleteFunc(v, func(key string, value any) bool {
			list, isList := value.([]any)
			return key == "engine_latency_ms" || key == "requires_user_approval" ||
				key == "capability_denials" && isList && len(list) == 0
		})
		for key := range v {
			v[key] = unsent(v[key])
		}
	}
	return v
}
