package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sort"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Digest binds an approval to exactly one tool and its arguments: SHA-256 over both in one canonical text (keys sorted, no
// spaces, numbers in the digits they were written in). Arguments that are not strict JSON are an error of category tool_arguments.
func Digest(name string, args json.RawMessage) (string, error) {
	v, err := strictjson.Parse(args)
	if err != nil {
		return "", core.Wrap(core.ToolArguments, err, "The arguments of %s are not valid JSON.", name)
	}
	text := canonical([]byte(`{"tool":`), &strictjson.Value{Kind: strictjson.String, String: name})
	text = canonical(append(text, `,"arguments":`...), v)
	sum := sha256.Sum256(append(text, '}'))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

// SchemaDigest is the digest of a tool's schema. It does not depend on the schema's layout.
func (t Tool) SchemaDigest() string {
	text := []byte(t.Schema)
	if v, err := strictjson.Parse(t.Schema); err == nil {
		text = canonical(nil, v)
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func canonical(b []byte, v *strictjson.Value) []byte {
	switch v.Kind {
	case strictjson.Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = canonical(b, item)
		}
		return append(b, ']')
	case strictjson.Object:
		members := append([]strictjson.Member(nil), v.Members...)
		sort.Slice(members, func(i, j int) bool { return members[i].Key < members[j].Key })
		b = append(b, '{')
		for i, m := range members {
			if i > 0 {
				b = append(b, ',')
			}
			b = canonical(b, &strictjson.Value{Kind: strictjson.String, String: m.Key})
			b = canonical(append(b, ':'), m.Value)
		}
		return append(b, '}')
	case strictjson.Number:
		return append(b, v.Number...)
	}
	scalar, _ := json.Marshal(v.Any()) // a string, a bool or null: can't fail
	return append(b, scalar...)
}
