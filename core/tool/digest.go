package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Digest binds an approval to exactly one tool and its arguments: SHA-256 over both in one canonical text (keys sorted,
// no spaces, numbers in the digits they were written in). Arguments that are not strict JSON are an error of category
// tool_arguments.
func Digest(name string, args json.RawMessage) (string, error) {
	v, err := strictjson.Parse(args)
	if err != nil {
		return "", core.Wrap(core.ToolArguments, err, "The arguments of %s are not valid JSON.", name)
	}
	text := v.AppendCanonical(
		append(scalar([]byte(`{"tool":`), &strictjson.Value{Kind: strictjson.String, String: name}),
			`,"arguments":`...), scalar)
	return sum(append(text, '}')), nil
}

// ValueDigest is the digest of a JSON value in the form of RFC 8785, whatever its layout: what a proof says of
// arguments, and what one request of an agent is recognized by. Error: that of strictjson.Parse.
func ValueDigest(text []byte) (string, error) {
	v, err := strictjson.Parse(text)
	if err != nil {
		return "", err
	}
	return sum(v.AppendRFC8785(nil)), nil
}

// SchemaDigest is the digest of a tool's schema and, if it has one, of its version. It does not depend on the schema's
// layout.
func (t Tool) SchemaDigest() string {
	text := slices.Clone([]byte(t.Schema))
	if v, err := strictjson.Parse(t.Schema); err == nil {
		text = v.AppendCanonical(nil, scalar)
	}
	if t.Version != "" {
		text = append(append(text, '\n'), t.Version...)
	}
	return sum(text)
}

func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(hash[:])
}

// scalar writes a number in the digits it was written in.
func scalar(b []byte, v *strictjson.Value) []byte {
	if v.Kind == strictjson.Number {
		return append(b, v.Number...)
	}
	text, _ := json.Marshal(v.Any()) // a string, a bool or null: can't fail
	return append(b, text...)
}
