package proof

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Verify returns the claims of a proof that is signed with one of the keys, as it was made. Every change of its text is
// refused, and so is everything around it. Keys that are not public Ed25519 keys are never used.
//
// Error: invalid, with a sentence that says what to do.
func Verify(jws string, set jose.JSONWebKeySet) (Claims, error) {
	if len(jws) > maxProof {
		return Claims{},
			refused("it has more than %d KB. Give the proof alone, without anything before or after it.", maxProof>>10)
	}
	parts := strings.Split(jws, ".")
	if len(parts) != 3 {
		return Claims{}, refused("a proof is three parts of base64url text with a dot between them. Give it whole, " +
			"and alone.")
	}
	var decoded [3][]byte
	for i, part := range parts {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || len(raw) == 0 || strings.ContainsAny(part, "\r\n") { // the decoder skips line breaks
			return Claims{},
				refused("its %s part is not base64url text. Give the proof whole, and alone.",
					[3]string{"first", "second", "third"}[i])
		}
		decoded[i] = raw
	}
	id, err := keyID(decoded[0])
	if err != nil {
		return Claims{}, err
	}
	payload, err := verified(jws, id, set)
	if err != nil {
		return Claims{}, err
	}
	return readClaims(payload)
}

// refused is the error of a proof that does not hold.
func refused(format string, args ...any) error {
	return core.Errorf(core.Invalid, "The proof does not hold: "+format, args...)
}

// keyID reads a header that has an algorithm, a type and a key's id, and nothing else.
func keyID(header []byte) (string, error) {
	v, err := strictjson.Parse(header)
	if err != nil || v.Kind != strictjson.Object {
		return "", refused("its header is not a JSON object. Get the proof again from gatehouse.")
	}
	fields := map[string]string{}
	for _, m := range v.Members {
		if m.Key != "alg" && m.Key != "typ" && m.Key != "kid" || m.Value.Kind != strictjson.String {
			return "", refused("its header has the field %q, which gatehouse does not write. Do not trust it; get "+
				"the proof again from gatehouse.", short(m.Key))
		}
		fields[m.Key] = m.Value.String
	}
	switch {
	case fields["alg"] != string(jose.EdDSA):
		return "", refused("its algorithm is %q, and gatehouse signs with EdDSA alone. Do not trust it; get the "+
			"proof again from gatehouse.", short(fields["alg"]))
	case fields["typ"] != typ:
		return "", refused("its type is %q, not %s. It may be a token for something else; give the proof of the "+
			"approval.", short(fields["typ"]), typ)
	case fields["kid"] == "":
		return "", refused("it does not name the key that it is signed with. Get the proof again from gatehouse.")
	}
	return fields["kid"], nil
}

// verified is the payload, if the key with this id has signed it.
func verified(jws, id string, set jose.JSONWebKeySet) ([]byte, error) {
	signed, err := jose.ParseSignedCompact(jws, []jose.SignatureAlgorithm{jose.EdDSA})
	if err != nil {
		return nil, refused("it can't be read as a signed text. Get the proof again from gatehouse.")
	}
	var keys []ed25519.PublicKey
	for _, key := range set.Key(id) {
		if public := publicKey(key); public != nil {
			keys = append(keys, public)
		}
	}
	if len(keys) == 0 {
		return nil, refused("it is signed with the key %q, which is not among those given. Get them again from %s of "+
			"the gateway that gave the proof. "+
			"If it has replaced the key since, use keys that were saved before.", short(id), Path)
	}
	for _, key := range keys {
		if payload, err := signed.Verify(key); err == nil {
			return payload, nil
		}
	}
	return nil, refused("its text was changed after it was signed, or its key is not the one that it names. Get the " +
		"proof again from gatehouse.")
}

// readClaims reads what is signed. Fields that a newer gatehouse may have added are ignored.
func readClaims(payload []byte) (Claims, error) {
	var c Claims
	if _, err := strictjson.Parse(payload, strictjson.Trusted); err != nil {
		return Claims{}, refused("what is signed is not valid JSON. Get the proof again from gatehouse.")
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		return Claims{}, refused("what is signed is not the claims of a proof. Get the proof again from gatehouse.")
	}
	if fault := c.fault(); fault != "" {
		return Claims{}, refused("%s is missing or wrong in it. Get the proof again from gatehouse, or verify it "+
			"with the version that gave it.", fault)
	}
	return c, nil
}

// maxShown is how many characters of a foreign text an error quotes.
const maxShown = 60

func short(text string) string {
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return text
}
