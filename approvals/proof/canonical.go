package proof

import (
	"gatehouse/core"
	"gatehouse/core/strictjson"
	"gatehouse/core/tool"
)

// Digest is "sha256:" and the hash, in lower-case hex, of a JSON value in canonical form. Error: invalid.
func Digest(text []byte) (string, error) {
	digest, err := tool.ValueDigest(text)
	if err != nil {
		return "", invalid(err)
	}
	return digest, nil
}

// digestPrefix begins a digest.
const digestPrefix = "sha256:"

// Canonical gives a JSON value in the form of RFC 8785, as strictjson's AppendRFC8785 does. Repeated keys and texts
// that are not Unicode are refused. Error: invalid.
func Canonical(text []byte) ([]byte, error) {
	v, err := strictjson.Parse(text, strictjson.Trusted)
	if err != nil {
		return nil, invalid(err)
	}
	return v.AppendRFC8785(nil), nil
}

func invalid(err error) error { return core.Errorf(core.Invalid, "This is not valid JSON: %v.", err) }
