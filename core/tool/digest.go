package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	quoted, _ := json.Marshal(name) // a text: can't fail
	return core.Digest(fmt.Appendf(nil, `{"tool":%s,"arguments":%s}`, quoted, canonical(v))), nil
}

// ValueDigest is the digest of a JSON value in the form of RFC 8785, whatever its layout: what a proof says of
// arguments, and what one request of an agent is recognized by. Error: that of strictjson.Parse.
func ValueDigest(text []byte) (string, error) {
	v, err := strictjson.Parse(text)
	if err != nil {
		return "", err
	}
	return core.Digest(v.AppendRFC8785(nil)), nil
}

// SchemaDigest is the digest of a tool's schema and, if it has one, of its version. It does not depend on the schema's
// layout.
func (t Tool) SchemaDigest() string {
	text := slices.Clone([]byte(t.Schema))
	if v, err := strictjson.Parse(t.Schema); err == nil {
		text = canonical(v)
	}
	if t.Version != "" {
		text = append(append(text, '\n'), t.Version...)
	}
	return core.Digest(text)
}

// canonical is a value with its keys sorted, no spaces, numbers in the digits that they were written in, and the
// escapes of encoding/json: approvals that are stored hold digests of it.
func canonical(v *strictjson.Value) []byte {
	var b bytes.Buffer
	json.HTMLEscape(&b, v.AppendCanonical(nil, nil))
	return b.Bytes()
}
