package proof_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"pgregory.net/rapid"

	"gatehouse/approvals/proof"
	"gatehouse/core"
)

// What is signed is read back, whatever the texts are; it covers its arguments, and no other key set accepts it.
func TestRoundTrip(t *testing.T) {
	keys, others := keysOf(t, thisYear), keysOf(t, lastYear).Set()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(),
			rapid.StringMatching(`[\x00-\x1f"\\<>&./\x{2028}\x{202e}\x{fffd}\x{1f600}]{0,40}`))
		name := func(label string) string { return text.Draw(t, label) }
		arguments, err := proof.Canonical(fmt.Appendf(nil, `{%s:%s}`, jsonOf(name("key")), jsonOf(name("value"))))
		if err != nil {
			t.Fatal(err)
		}
		a := decided(t,
			rapid.SampledFrom(
				[]core.ApprovalState{core.Approved, core.Denied, core.Expired, core.Cancelled, core.Answered}).Draw(t,
				"state"), string(arguments))
		a.ID, a.Rule.Name = core.ApprovalID("ap"+name("id")), name("rule")
		a.DecidedBy, a.Requester = core.Actor{ID: name("by id"), Name: name("by")}, core.Actor{ID: name("principal")}
		if a.State == core.Answered {
			a.Votes = []core.Vote{{Choice: core.Answer, Answer: json.RawMessage(jsonOf(name("answer")))}}
		}
		want, err := proof.Of(a)
		if err != nil {
			t.Fatal(err)
		}
		jws, err := keys.Sign(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := proof.Verify(jws, keys.Set())
		if err != nil || got != want {
			t.Fatalf("got %+v (%v)\nwant %+v", got, err, want)
		}
		if err := got.Covers(arguments); err != nil {
			t.Fatal(err)
		}
		if _, err := proof.Verify(jws, others); core.CategoryOf(err) != core.Invalid {
			t.Fatalf("another key verifies it: %v", err)
		}
		if again, err := keys.Sign(want); err != nil || again != jws {
			t.Fatalf("the same claims give another proof: %s, %v", again, err)
		}
	})
}

// No character of a proof can be another one, be missing or be there twice.
func TestEveryChangeOfTheTextIsRefused(t *testing.T) {
	keys := keysOf(t, thisYear)
	jws := sign(t, keys, claims(t))
	refused := func(text string) {
		t.Helper()
		if _, err := proof.Verify(text, keys.Set()); core.CategoryOf(err) != core.Invalid || core.MessageOf(err) == "" {
			t.Fatalf("%q: %v", text, err)
		}
	}
	for i := range jws {
		for _, c := range "Aa0-_.=\n " {
			if byte(c) != jws[i] {
				refused(jws[:i] + string(c) + jws[i+1:])
			}
			refused(jws[:i] + string(c) + jws[i:])
		}
		refused(jws[:i] + string(jws[i]^1) + jws[i+1:])
		refused(jws[:i] + jws[i+1:])
	}
	for _, end := range []string{"\n", " ", ".", "=", "A", ".." + jws, "." + jws, "{}"} {
		refused(jws + end)
		refused(end + jws)
	}
}

// A proof holds as long as the secret key that it was made with is listed.
func TestRotation(t *testing.T) {
	before, during, after := keysOf(t, lastYear), keysOf(t, thisYear, lastYear), keysOf(t, thisYear)
	old, fresh := sign(t, before, claims(t)), sign(t, during, claims(t))
	for _, test := range []struct {
		what, jws string
		set       jose.JSONWebKeySet
		want      bool
	}{
		{"old before", old, before.Set(), true}, {"old during", old, during.Set(), true},
		{"old after", old, after.Set(), false},
		{"new before", fresh, before.Set(), false}, {"new during", fresh, during.Set(), true},
		{"new after", fresh, after.Set(), true},
	} {
		if _, err := proof.Verify(test.jws, test.set); (err == nil) != test.want {
			t.Errorf("%s: %v", test.what, err)
		} else if err != nil && !strings.Contains(core.MessageOf(err), "is not among those given") {
			t.Errorf("%s: %v", test.what, err)
		}
	}
	if set := during.Set(); len(set.Keys) != 2 || set.Keys[0].KeyID != after.Set().Keys[0].KeyID ||
		set.Keys[1].KeyID != before.Set().Keys[0].KeyID {
		t.Errorf("the keys are not newest first: %+v", set)
	}
}

// FuzzVerify: of all texts, only the proof itself is one.
func FuzzVerify(f *testing.F) {
	keys := keysOf(f, thisYear, lastYear)
	jws := sign(f, keys, claims(f))
	header, rest, _ := strings.Cut(jws, ".")
	decoded, _ := base64.RawURLEncoding.DecodeString(header)
	for _, seed := range []string{
		"", jws, jws + "\n", " " + jws, jws[:len(jws)-1], "." + rest, "..", "{}", `{"payload":"","signatures":[]}`,
		sign(f, keysOf(f, "a key of somebody else"), claims(f)), string(decoded),
		base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + rest,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := proof.Verify(text, keys.Set())
		switch {
		case text == jws && err != nil:
			t.Fatal(err)
		case text != jws && (core.CategoryOf(err) != core.Invalid || core.MessageOf(err) == ""):
			t.Fatalf("%q: %v", text, err)
		}
	})
}
