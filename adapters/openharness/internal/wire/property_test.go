package wire_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core/strictjson"
)

// fields gives the declared fields of a request and values for each, of its type.
var fields = map[string][]string{
	"protocol_version": {`"1.0.0"`, `"1.2.3-a.b+c"`}, "request_id": {`"r"`}, "correlation_id": {`"c"`},
	"capabilities":                                   {`{}`, `{"openharness.streaming":true,"com.example.x":null}`},
	"request.auth.tenant_id":                         {`"t"`, `""`},
	"request.auth.credential_ref":                    {`"c"`},
	"request.auth.session_id":                        {`"s"`, `""`},
	"request.extensions":                             {`{}`, `{"dev.gatehouse":{"reason":"because"}}`},
	"request.context.session_id":                     {`"s"`, `""`},
	"request.context.conversation_id":                {`"c"`},
	"request.context.task_hint.sop_id":               {`"a"`},
	"request.context.task_hint.plugin_id":            {`"b"`},
	"request.context.task_hint.business_key":         {`"c"`},
	"request.context.continuation.run_id":            {`"r"`, `""`},
	"request.context.continuation.sop_id":            {`"s"`},
	"request.context.environment_state.os":           {`"x"`},
	"request.context.environment_state.privacy_tier": {`"public"`, `"restricted"`, `"secret"`, `"other"`, `""`},
	"request.context.shell.shell_kind":               {`"tv"`, `""`},
	"request.context.shell.locale":                   {`"x"`},
	"request.context.extensions":                     {`{}`},
	"request.context.attachments": {
		`[]`, `[{"ref_id":"a","size_bytes":1e1}]`, `[{"ref_id":"a","size_bytes":0.5}]`,
		`[{"ref_id":"a","size_bytes":-1}]`, `[{"uri":"a"},{"asset_id":"b","mime_type":"c","filename":"d"}]`, `[7]`,
	},
}

var wrong = []string{`null`, `7`, `true`, `"x"`, `[]`, `{}`, `[{}]`}

// requests generates a request. Each field is absent or as in fields; then one may get a value of any type.
func requests(t *rapid.T) []byte {
	message := map[string]any{}
	set := func(path, value string) {
		at, keys := message, strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			next, ok := at[key].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[key] = next
			}
			at = next
		}
		at[keys[len(keys)-1]] = json.RawMessage(value)
	}
	set("request.context.user_intent", `"hello"`)
	paths := slices.Sorted(maps.Keys(fields))
	for _, path := range paths {
		if path == "protocol_version" || rapid.Bool().Draw(t, path) {
			set(path, rapid.SampledFrom(fields[path]).Draw(t, "value"))
		}
	}
	if rapid.Bool().Draw(t, "one of any type") {
		path := rapid.SampledFrom(paths).Draw(t, "path")
		keys := strings.Split(path, ".")
		set(strings.Join(keys[:rapid.IntRange(1, len(keys)).Draw(t, "keys")], "."),
			rapid.SampledFrom(wrong).Draw(t, "wrong"))
	}
	text, err := json.Marshal(message)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ours reports whether a fault is of a rule that the schema doesn't have.
func ours(f *wire.Fault) bool {
	return strings.HasSuffix(f.Message, "semantic version, such as 1.0.0.") || f.Field == "context.user_intent" ||
		f.Field == "context.session_id" ||
		strings.HasSuffix(f.Message, "a ref_id, a uri or an asset_id.")
}

// TestAgreesWithSchema: a message that the schema refuses is refused; one that it accepts is only refused for a rule of
// ours.
func TestAgreesWithSchema(t *testing.T) {
	valid := schemaOf(t, "requestMessage")
	verdicts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			text := requests(t)
			_, fault := wire.Decode(text, wire.Limits{})
			err := valid(text)
			verdicts[err == nil]++
			if fault == nil && err != nil || fault != nil && err == nil && !ours(fault) {
				t.Fatalf("%s\n%+v\nthe schema: %v", text, fault, err)
			}
		}
	})
	t.Logf("%d valid, %d invalid", verdicts[true], verdicts[false])
	if !t.Failed() && (verdicts[true] < 100 || verdicts[false] < 100) {
		t.Error("there are too few of one kind")
	}
}

// TestOrderDoesNotMatter: the verdict and the digest are the same whatever the order of keys, white space, escapes and
// unknown fields.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := requests(t)
		v, err := strictjson.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		again := written(nil, v, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)), true)
		one, fault := wire.Decode(text, wire.Limits{})
		other, otherFault := wire.Decode(again, wire.Limits{})
		if (fault == nil) != (otherFault == nil) || one.Digest() != other.Digest() || one.ID != other.ID {
			t.Fatalf("%s\n%+v\n%s\n%+v", text, fault, again, otherFault)
		}
	})
}

// written writes v with its keys shuffled, with white space and escapes and, if it is to, with unknown fields.
func written(b []byte, v *strictjson.Value, r *rand.Rand, unknown bool) []byte {
	blank := func() { b = append(b, []string{"", " ", "\n", "\t\r "}[r.IntN(4)]...) }
	text := func(s string) {
		quoted, _ := json.Marshal(s)
		if s != "" && s[0] > ' ' && s[0] < 0x7f && r.IntN(2) == 0 {
			rest, _ := json.Marshal(s[1:])
			quoted = append([]byte(`"\u00`+string("0123456789abcdef"[s[0]>>4])+string("0123456789abcdef"[s[0]&15])),
				rest[1:]...)
		}
		b = append(b, quoted...)
	}
	blank()
	switch v.Kind {
	case strictjson.Object:
		members := slices.Clone(v.Members)
		if unknown && v.Get("X-Unknown") == nil {
			members = append(members,
				strictjson.Member{Key: "X-Unknown", Value: &strictjson.Value{Kind: strictjson.Null}})
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		b = append(b, '{')
		for i, m := range members {
			if i > 0 {
				b = append(b, ',')
			}
			blank()
			text(m.Key)
			blank()
			b = written(append(b, ':'), m.Value, r, unknown)
		}
		b = append(b, '}')
	case strictjson.Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = written(b, item, r, unknown)
		}
		b = append(b, ']')
	case strictjson.String:
		text(v.String)
	case strictjson.Number:
		b = append(b, v.Number...)
	default:
		quoted, _ := json.Marshal(v.Any())
		b = append(b, quoted...)
	}
	blank()
	return b
}
