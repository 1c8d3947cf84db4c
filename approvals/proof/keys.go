package proof

import (
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/core"
)

// purpose is what the keys are derived for.
const purpose = "proof"

// typ is the type of a proof, in its header. Other tokens that are signed with the same keys would have another.
const typ = "gatehouse-approval+jwt"

// maxProof is how many bytes a proof may have.
const maxProof = 16 << 10

// Keys are the key pairs of an installation. They may be used concurrently.
type Keys struct {
	Note  string // published with the keys; "" = none
	pairs []pair // newest first
}

type pair struct {
	id     string
	secret ed25519.PrivateKey
}

// NewKeys derives a key pair from each secret key of the signer.
func NewKeys(signer *core.Signer) *Keys {
	k := &Keys{}
	for _, seed := range signer.Derived(purpose) {
		secret := ed25519.NewKeyFromSeed(seed)
		k.pairs = append(k.pairs, pair{thumbprint(secret.Public()), secret})
	}
	return k
}

// thumbprint is the id of a public key, made from the key alone (RFC 7638).
func thumbprint(public crypto.PublicKey) string {
	sum, err := (&jose.JSONWebKey{Key: public}).Thumbprint(crypto.SHA256)
	if err != nil {
		panic("proof: an Ed25519 key has no thumbprint: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}

// Sign signs claims with the newest key. Errors: invalid (the claims are not complete, hold text that is not Unicode,
// or are too long), internal.
func (k *Keys) Sign(c Claims) (string, error) {
	if fault := c.fault(); fault != "" {
		return "", core.Errorf(core.Invalid, "The claims can't be signed: %s is missing or wrong.", fault)
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", core.Wrap(core.Internal, err, "The claims could not be encoded.")
	}
	var read Claims
	if err := json.Unmarshal(payload, &read); err != nil || read != c {
		return "", core.Errorf(core.Invalid, "The claims about the approval %q can't be signed: a text in them is "+
			"not Unicode.", c.Subject)
	}
	newest := k.pairs[0]
	key := jose.SigningKey{Algorithm: jose.EdDSA, Key: jose.JSONWebKey{Key: newest.secret, KeyID: newest.id}}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(typ))
	if err != nil {
		return "", core.Wrap(core.Internal, err, "The proof could not be signed.")
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", core.Wrap(core.Internal, err, "The proof could not be signed.")
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		return "", core.Wrap(core.Internal, err, "The proof could not be signed.")
	}
	if len(text) > maxProof {
		return "", core.Errorf(core.Invalid, "The claims about the approval %s are too long: a proof has %d KB at "+
			"most. Shorten the names in them.", c.Subject, maxProof>>10)
	}
	return text, nil
}

// Set is the public keys, newest first.
func (k *Keys) Set() jose.JSONWebKeySet {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, p := range k.pairs {
		set.Keys = append(set.Keys,
			jose.JSONWebKey{Key: p.secret.Public(), KeyID: p.id, Algorithm: string(jose.EdDSA), Use: "sig"})
	}
	return set
}
