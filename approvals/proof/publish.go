package proof

import (
	"crypto/ed25519"
	"encoding/json"
	"net/http"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Path is where Handler is served.
const Path = "/.well-known/gatehouse.json"

// document is what is published.
type document struct {
	Issuer string            `json:"issuer"`
	Keys   []jose.JSONWebKey `json:"keys"`
	Note   string            `json:"note,omitempty"` // what a proof does not say
}

// KeyInDatabase is the note of an installation whose secret key lies in its database.
const KeyInDatabase = "GATEHOUSE_SECRET_KEY is not set, so the key that signs decisions is in the database itself: " +
	"who can change that can forge proofs. Set GATEHOUSE_SECRET_KEY."

// cacheControl lets caches keep the keys for five minutes, because a key may be replaced.
const cacheControl = "public, max-age=300"

// Handler serves the public keys as JSON: {"issuer":"gatehouse","keys":[…]}, and the note if there is one. It needs no
// authentication.
func (k *Keys) Handler() http.Handler {
	body, err := json.Marshal(document{Issuer, k.Set().Keys, k.Note})
	if err != nil {
		panic("proof: Ed25519 keys have no JSON: " + err.Error())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "The keys can only be read. Use GET.", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", cacheControl)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(body)
	})
}

// ParseSet reads what Handler serves. Keys of other kinds than Ed25519 are left out; the issuer must be gatehouse.
// Error: invalid.
func ParseSet(text []byte) (jose.JSONWebKeySet, error) {
	none := jose.JSONWebKeySet{}
	v, err := strictjson.Parse(text)
	if err != nil {
		return none, core.Errorf(core.Invalid, "The keys are not valid JSON: %v. Save them as %s of the gateway has "+
			"them.", err, Path)
	}
	if issuer := v.Get("issuer"); issuer == nil || issuer.String != Issuer {
		return none, core.Errorf(core.Invalid, "The keys are not those of gatehouse: the field issuer does not say "+
			"%q. Save them as %s of the gateway has them.", Issuer, Path)
	}
	keys := v.Get("keys")
	if keys == nil {
		keys = &strictjson.Value{}
	}
	set := none
	for _, item := range keys.Items {
		var key jose.JSONWebKey
		if json.Unmarshal(item.Raw(text), &key) == nil && publicKey(key) != nil {
			set.Keys = append(set.Keys, key)
		}
	}
	if len(set.Keys) == 0 {
		return none, core.Errorf(core.Invalid, "The keys hold no public Ed25519 key with an id. Save them as %s of "+
			"the gateway has them.", Path)
	}
	return set, nil
}

// publicKey is the key, if it can verify proofs; nil for others. The field that says what a key is for may be left out.
func publicKey(key jose.JSONWebKey) ed25519.PublicKey {
	public, ok := key.Key.(ed25519.PublicKey)
	if !ok || len(public) != ed25519.PublicKeySize || key.KeyID == "" || key.Use != "" && key.Use != "sig" ||
		key.Algorithm != "" && key.Algorithm != string(jose.EdDSA) {
		return nil
	}
	return public
}
