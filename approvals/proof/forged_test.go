package proof_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"gatehouse/approvals/proof"
	"gatehouse/core"
)

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func b64(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// forger makes proofs as an attacker would, or as one who has the installation's secret key.
type forger struct {
	t      *testing.T
	keys   *proof.Keys
	kid    string
	secret ed25519.PrivateKey // the installation's
	claims string
}

func newForger(t *testing.T) *forger {
	signer, err := core.NewSigner(thisYear)
	if err != nil {
		t.Fatal(err)
	}
	f := &forger{
		t: t, keys: proof.NewKeys(signer), secret: ed25519.NewKeyFromSeed(signer.Derived("proof")[0]),
		claims: jsonOf(claims(t)),
	}
	f.kid = f.keys.Set().Keys[0].KeyID
	return f
}

// signed signs with a key, with any header.
func signed(key ed25519.PrivateKey, header, payload string) string {
	text := b64(header) + "." + b64(payload)
	return text + "." + b64(string(ed25519.Sign(key, []byte(text))))
}

// genuine signs with the installation's key.
func (f *forger) genuine(header, payload string) string { return signed(f.secret, header, payload) }

func (f *forger) header(alg, more string) string {
	return fmt.Sprintf(`{"alg":%q,"kid":%q,"typ":"gatehouse-approval+jwt"%s}`, alg, f.kid, more)
}

// hmacOf signs with a secret that everybody has.
func (f *forger) hmacOf(alg string, h func() hash.Hash, key []byte) string {
	text := b64(f.header(alg, "")) + "." + b64(f.claims)
	m := hmac.New(h, key)
	m.Write([]byte(text))
	return text + "." + b64(string(m.Sum(nil)))
}

// The forger's own way to sign gives what Sign gives, so that the forgeries fail for what is forged in them.
func TestForgeriesWouldHoldIfNothingWereForged(t *testing.T) {
	f := newForger(t)
	if got, want := f.genuine(f.header("EdDSA", ""), f.claims), sign(t, f.keys, claims(t)); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
}

func TestForgeriesAreRefused(t *testing.T) {
	f := newForger(t)
	jws := sign(t, f.keys, claims(t))
	parts := strings.Split(jws, ".")
	public := f.secret.Public().(ed25519.PublicKey)
	mine := ed25519.NewKeyFromSeed([]byte("the seed of an attacker, 32 byte"))
	jwk, err := json.Marshal(jose.JSONWebKey{Key: mine.Public(), KeyID: f.kid})
	if err != nil {
		t.Fatal(err)
	}
	published, err := json.Marshal(f.keys.Set().Keys[0])
	if err != nil {
		t.Fatal(err)
	}
	denied := strings.Replace(f.claims, "approved", "denied", 1)
	for name, test := range map[string]struct{ jws, why string }{
		"no algorithm, no signature": {b64(f.header("none", "")) + "." + b64(f.claims) + ".", "third part"},
		"no algorithm":               {f.genuine(f.header("none", ""), f.claims), `algorithm is "none"`},
		"None":                       {f.genuine(f.header("None", ""), f.claims), `algorithm is "None"`},
		"the algorithm is missing": {f.genuine(fmt.Sprintf(`{"kid":%q,"typ":"gatehouse-approval+jwt"}`, f.kid),
			f.claims), `algorithm is ""`},
		"HMAC with the public key":     {f.hmacOf("HS256", sha256.New, public), `algorithm is "HS256"`},
		"HMAC with its JSON":           {f.hmacOf("HS256", sha256.New, published), `algorithm is "HS256"`},
		"HMAC-512 with the public key": {f.hmacOf("HS512", sha512.New, public), `algorithm is "HS512"`},
		"HMAC that says EdDSA":         {f.hmacOf("EdDSA", sha512.New, public), "changed after it was signed"},
		"another key with this id":     {signed(mine, f.header("EdDSA", ""), f.claims), "changed after it was signed"},
		"the key in the header": {
			signed(mine, f.header("EdDSA", `,"jwk":`+string(jwk)), f.claims), `field "jwk"`,
		},
		"our key in the header": {
			f.genuine(f.header("EdDSA", `,"jwk":`+string(published)), f.claims), `field "jwk"`,
		},
		"the key at an address": {
			signed(mine, f.header("EdDSA", `,"jku":"https://example.com/keys"`), f.claims), `field "jku"`,
		},
		"a certificate": {signed(mine, f.header("EdDSA", `,"x5c":[]`), f.claims), `field "x5c"`},
		"a critical extension": {
			f.genuine(f.header("EdDSA", `,"crit":["b64"],"b64":false`), f.claims), `field "crit"`,
		},
		"an unencoded payload": {f.genuine(f.header("EdDSA", `,"b64":false`), f.claims), `field "b64"`},
		"a key id that is no text": {f.genuine(`{"alg":"EdDSA","kid":["`+f.kid+`"],"typ":"gatehouse-approval+jwt"}`,
			f.claims), `field "kid"`},
		"a field twice":           {f.genuine(f.header("EdDSA", `,"alg":"EdDSA"`), f.claims), "not a JSON object"},
		"another case":            {f.genuine(f.header("EdDSA", `,"ALG":"EdDSA"`), f.claims), `field "ALG"`},
		"a header that is a list": {f.genuine("[]", f.claims), "not a JSON object"},
		"an unknown key": {signed(mine, `{"alg":"EdDSA","kid":"mine","typ":"gatehouse-approval+jwt"}`,
			f.claims), `the key "mine", which is not among those given`},
		"no key's id": {
			f.genuine(`{"alg":"EdDSA","typ":"gatehouse-approval+jwt"}`, f.claims), "does not name the key",
		},
		"another type": {
			f.genuine(fmt.Sprintf(`{"alg":"EdDSA","kid":%q,"typ":"JWT"}`, f.kid), f.claims), `type is "JWT"`,
		},
		"no type": {
			f.genuine(fmt.Sprintf(`{"alg":"EdDSA","kid":%q}`, f.kid), f.claims), `type is ""`,
		},
		"another payload":    {parts[0] + "." + b64(denied) + "." + parts[2], "changed after it was signed"},
		"no payload":         {parts[0] + ".." + parts[2], "second part"},
		"no signature":       {parts[0] + "." + parts[1] + ".", "third part"},
		"half a signature":   {parts[0] + "." + parts[1] + "." + parts[2][:40], "changed after it was signed"},
		"an empty text":      {"", "three parts"},
		"four parts":         {jws + "." + parts[2], "three parts"},
		"a line break in it": {jws[:len(jws)-10] + "\n" + jws[len(jws)-10:], "third part"},
		"padding":            {jws + "==", "third part"},
		"the other base64": {
			parts[0] + "." + parts[1] + "." + strings.NewReplacer("-", "+", "_", "/").Replace(parts[2]) + "+",
			"third part",
		},
		"too much": {
			parts[0] + "." + parts[1] + strings.Repeat("A", 16<<10) + "." + parts[2], "more than 16 KB",
		},
		"signed, but no JSON":        {f.genuine(f.header("EdDSA", ""), "approved"), "not valid JSON"},
		"signed, with more after it": {f.genuine(f.header("EdDSA", ""), f.claims+"{}"), "not valid JSON"},
		"signed, with a claim twice": {f.genuine(f.header("EdDSA", ""),
			f.claims[:len(f.claims)-1]+`,"decision":"denied"}`), "not valid JSON"},
		"signed, of another kind":    {f.genuine(f.header("EdDSA", ""), `{"iat":"today"}`), "not the claims"},
		"signed, without its claims": {f.genuine(f.header("EdDSA", ""), "null"), "the issuer is missing"},
		"signed, of another issuer": {f.genuine(f.header("EdDSA", ""),
			strings.Replace(f.claims, "gatehouse", "mallory", 1)), "the issuer is missing"},
		"signed, of another decision": {f.genuine(f.header("EdDSA", ""),
			strings.Replace(f.claims, "approved", "open", 1)), "the decision is missing"},
	} {
		_, err := proof.Verify(test.jws, f.keys.Set())
		if message := core.MessageOf(err); core.CategoryOf(err) != core.Invalid ||
			!strings.HasPrefix(message, "The proof does not hold: ") || !strings.Contains(message, test.why) {
			t.Errorf("%s: %v, want %s", name, err, test.why)
		}
	}
}

// A text with several signatures, and each other JSON form, is refused, though one of the signatures is genuine.
func TestJSONFormsAreRefused(t *testing.T) {
	f := newForger(t)
	parts := strings.Split(sign(t, f.keys, claims(t)), ".")
	one := fmt.Sprintf(`{"protected":%q,"signature":%q}`, parts[0], parts[2])
	for _, text := range []string{
		fmt.Sprintf(`{"payload":%q,"signatures":[%s,%s]}`, parts[1], one, one),
		fmt.Sprintf(`{"payload":%q,"signatures":[%s]}`, parts[1], one),
		fmt.Sprintf(`{"payload":%q,"protected":%q,"signature":%q}`, parts[1], parts[0], parts[2]),
	} {
		if _, err := jose.ParseSignedJSON(text, []jose.SignatureAlgorithm{jose.EdDSA}); err != nil {
			t.Errorf("%s is no JWS: %v", text, err)
		}
		if _, err := proof.Verify(text, f.keys.Set()); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Keys that are not public Ed25519 keys for signatures verify nothing, even with the right id.
func TestOtherKeysOfASetAreNotUsed(t *testing.T) {
	f := newForger(t)
	public := f.secret.Public()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]jose.JSONWebKey{
		"private":         {Key: f.secret, KeyID: f.kid},
		"a shared secret": {Key: []byte(public.(ed25519.PublicKey)), KeyID: f.kid},
		"RSA":             {Key: crypto.PublicKey(&rsaKey.PublicKey), KeyID: f.kid},
		"half a key":      {Key: public.(ed25519.PublicKey)[:16], KeyID: f.kid},
		"for encryption":  {Key: public, KeyID: f.kid, Use: "enc"},
		"of HMAC":         {Key: public, KeyID: f.kid, Algorithm: "HS256"},
		"no key":          {KeyID: f.kid},
		"another id":      {Key: public, KeyID: "other"},
	} {
		if _, err := proof.Verify(sign(t, f.keys, claims(t)),
			jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key}}); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The right key is found among others with its id.
	wrong := jose.JSONWebKey{Key: ed25519.NewKeyFromSeed(make([]byte, 32)).Public(), KeyID: f.kid}
	if _, err := proof.Verify(sign(t, f.keys, claims(t)),
		jose.JSONWebKeySet{Keys: []jose.JSONWebKey{wrong, {Key: public, KeyID: f.kid}}}); err != nil {
		t.Error(err)
	}
}
