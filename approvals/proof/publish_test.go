package proof_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatehouse/approvals/proof"
	"gatehouse/core"
)

// What Handler serves is what ParseSet reads, and verifies proofs.
func TestPublishedKeysVerify(t *testing.T) {
	keys := keysOf(t, thisYear, lastYear)
	mux := http.NewServeMux()
	mux.Handle(proof.Path, keys.Handler())
	server := httptest.NewServer(mux)
	defer server.Close()
	resp, err := http.Get(server.URL + "/.well-known/gatehouse.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", resp.StatusCode, err)
	}
	for key, want := range map[string]string{
		"Content-Type": "application/json", "Cache-Control": "public, max-age=300",
	} {
		if got := resp.Header.Get(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	set, err := proof.ParseSet(body)
	if err != nil || len(set.Keys) != 2 {
		t.Fatalf("%s: %v", body, err)
	}
	for i, secret := range []string{thisYear, lastYear} {
		if _, err := proof.Verify(sign(t, keysOf(t, secret), claims(t)), set); err != nil ||
			set.Keys[i].KeyID != keysOf(t, secret).Set().Keys[0].KeyID {
			t.Errorf("key %d: %v", i, err)
		}
	}
	var document struct {
		Issuer string              `json:"issuer"`
		Keys   []map[string]string `json:"keys"`
	}
	if err := json.Unmarshal(body, &document); err != nil || document.Issuer != "gatehouse" || len(document.Keys) != 2 {
		t.Fatalf("%s: %v", body, err)
	}
	for _, key := range document.Keys {
		if key["kty"] != "OKP" || key["crv"] != "Ed25519" || key["alg"] != "EdDSA" || key["use"] != "sig" ||
			key["kid"] == "" || key["x"] == "" || len(key) != 6 {
			t.Errorf("%v has other fields, or a private part", key)
		}
	}
}

func TestKeysAreOnlyRead(t *testing.T) {
	h := keysOf(t, thisYear).Handler()
	for method, want := range map[string]int{
		"GET": 200, "HEAD": 200, "POST": 405, "PUT": 405, "DELETE": 405, "PATCH": 405, "OPTIONS": 405,
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, proof.Path, nil))
		if w.Code != want || want == 405 && w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %d %v", method, w.Code, w.Header())
		}
	}
}

func TestSetsThatAreNotOurs(t *testing.T) {
	const key = `{"kty":"OKP","kid":"a","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`
	for text, want := range map[string]string{
		``:                                     "not valid JSON",
		`{"issuer":"gatehouse","keys":[` + key: "not valid JSON",
		`[]`:                                   "the field issuer",
		`{"keys":[` + key + `}]}`:              "the field issuer",
		`{"issuer":"x","keys":[` + key + `}]}`: "the field issuer",
		`{"issuer":["gatehouse"]}`:             "the field issuer",
		`{"issuer":"gatehouse"}`:               "no public Ed25519 key",
		`{"issuer":"gatehouse","keys":{}}`:     "no public Ed25519 key",
		`{"issuer":"gatehouse","keys":[1,{}]}`: "no public Ed25519 key",
		// a private one
		`{"issuer":"gatehouse","keys":[` + key +
			`,"d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}]}`: "no public Ed25519 key",
		`{"issuer":"gatehouse","keys":[{"kty":"oct","kid":"a","k":"c2VjcmV0"},{"kty":"EC",` +
			`"kid":"b"}]}`: "no public Ed25519 key",
		`{"issuer":"gatehouse","keys":[{"kty":"OKP","kid":"a","crv":"Ed25519",` +
			`"x":"AAAA"}]}`: "no public Ed25519 key",
		`{"issuer":"gatehouse","keys":[` + strings.Replace(key, `"a"`, `""`, 1) +
			`}]}`: "no public Ed25519 key",
	} {
		if _, err := proof.ParseSet([]byte(text)); core.CategoryOf(err) != core.Invalid ||
			!strings.Contains(core.MessageOf(err), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	// Keys of kinds that are not known yet are left out.
	set, err := proof.ParseSet([]byte(`{"issuer":"gatehouse","later":1,"keys":[{"kty":"new"},` + key + `}]}`))
	if err != nil || len(set.Keys) != 1 || set.Keys[0].KeyID != "a" {
		t.Errorf("%+v, %v", set, err)
	}
}

// An id is the hash of the three fields that make an Ed25519 key (RFC 8037, appendix A.3), in canonical form.
func TestKeyIDsAreThumbprints(t *testing.T) {
	for _, key := range keysOf(t, thisYear).Set().Keys {
		text, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]string
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		digest, err := proof.Digest(
			[]byte(jsonOf(map[string]string{"crv": fields["crv"], "kty": fields["kty"], "x": fields["x"]})))
		if err != nil {
			t.Fatal(err)
		}
		if id, err := base64.RawURLEncoding.DecodeString(key.KeyID); err != nil ||
			"sha256:"+hex.EncodeToString(id) != digest {
			t.Errorf("the id is %x (%v), want %s", id, err, digest)
		}
	}
}

// FuzzParseSet: of all texts, each set that is read can be used.
func FuzzParseSet(f *testing.F) {
	keys := keysOf(f, thisYear)
	jws := sign(f, keys, claims(f))
	w := httptest.NewRecorder()
	keys.Handler().ServeHTTP(w, httptest.NewRequest("GET", proof.Path, nil))
	f.Add(w.Body.Bytes())
	f.Add(
		[]byte(
			`{"issuer":"gatehouse","keys":[{"kty":"oct","kid":"a","k":"c2VjcmV0"},{"kty":"OKP","crv":"Ed25519",` +
				`"kid":"a","x":"AAAA","x5c":[""]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := proof.ParseSet(text)
		if err != nil {
			if core.CategoryOf(err) != core.Invalid {
				t.Fatal(err)
			}
			return
		}
		for i := range set.Keys {
			if set.Keys[i].KeyID == "" || !set.Keys[i].IsPublic() {
				t.Fatalf("%q is no public key with an id", text)
			}
			set.Keys[i].KeyID = keys.Set().Keys[0].KeyID
		}
		if c, err := proof.Verify(jws, set); err == nil && c != claims(t) {
			t.Fatalf("%+v", c)
		}
	})
}
