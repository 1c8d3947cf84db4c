package proof_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/approvals/proof"
	"gatehouse/core"
)

func TestClaimsOfADecidedApproval(t *testing.T) {
	got, err := json.Marshal(claims(t))
	const want = `{"iss":"gatehouse","sub":"ap-1","iat":1793710800,"action":"external.ci.deploy",` +
		`"digest":"sha256:22613a945e4151ace9068f8bd287cff24b10170302d9467651e3cb932f988f9e","decision":"approved",` +
		`"by":"Ann","by_id":"slack:U1",` +
		`"at":"2026-11-03T13:00:00Z","rule":"deploys","principal":"external:ci"}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s (%v)\nwant %s", got, err, want)
	}
	for _, state := range []core.ApprovalState{core.Denied, core.Expired, core.Cancelled} {
		if c, err := proof.Of(decided(t, state, deploy)); err != nil || c.Decision != string(state) {
			t.Errorf("%s: %+v, %v", state, c, err)
		}
	}
}

func TestNoClaimsWithoutADecisionOnTheseArguments(t *testing.T) {
	for want, change := range map[string]func(*core.Approval){
		"is not decided":                          func(a *core.Approval) { a.State = core.Open },
		"ap-1 is not decided, so":                 func(a *core.Approval) { a.DecidedAt = time.Time{} },
		"content of the approval ap-1 was erased": func(a *core.Approval) { a.Call.Arguments, a.Call.Digest = nil, "" },
		"so nobody can prove": func(a *core.Approval) {
			a.Call.Arguments, a.Call.Digest = json.RawMessage("null"), ""
		},
		"are not those that were asked for": func(a *core.Approval) {
			a.Call.Arguments = json.RawMessage(`{"service":"bank","version":7}`)
		},
		"not those that were asked for, so": func(a *core.Approval) { a.Call.Tool = "external.ci.delete" },
		"was erased, so": func(a *core.Approval) {
			a.State, a.Votes = core.Answered, []core.Vote{{Choice: core.Answer}}
		},
		"not those that were asked for, so ": func(a *core.Approval) { a.Call.Arguments = json.RawMessage("{") },
	} {
		a := decided(t, core.Approved, deploy)
		change(&a)
		if _, err := proof.Of(a); core.CategoryOf(err) != core.Invalid || !strings.Contains(core.MessageOf(err), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestCoversTheSameValueAlone(t *testing.T) {
	c := claims(t)
	for _, same := range []string{
		deploy, `{"version":7.0,"service":"\u0073hop"}`, "\n{ \"version\": 70e-1, \"service\": \"shop\" }\n",
	} {
		if err := c.Covers([]byte(same)); err != nil {
			t.Errorf("%s: %v", same, err)
		}
	}
	for _, other := range []string{
		`{"service":"shop","version":8}`, `{"service":"shop","version":"7"}`, `{"service":"shop"}`,
		`{"service":"shop","version":7,"force":true}`,
		`{"service":"shop","version":7,"version":7}`, `{"service":"shop","version":7}{}`, "", "null",
	} {
		if err := c.Covers([]byte(other)); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s is covered: %v", other, err)
		}
	}
}

func TestIncompleteClaimsAreNotSigned(t *testing.T) {
	keys := keysOf(t, thisYear)
	for want, change := range map[string]func(*proof.Claims){
		"the issuer":                      func(c *proof.Claims) { c.Issuer = "somebody" },
		"the approval's id":               func(c *proof.Claims) { c.Subject = "" },
		"the action":                      func(c *proof.Claims) { c.Action = "" },
		"the digest of the arguments":     func(c *proof.Claims) { c.Digest = strings.ToUpper(c.Digest) },
		"digest of the arguments is":      func(c *proof.Claims) { c.Digest = c.Digest[:20] },
		"the decision":                    func(c *proof.Claims) { c.Decision = "open" },
		"the time":                        func(c *proof.Claims) { c.IssuedAt++ },
		"the time is":                     func(c *proof.Claims) { c.At = "yesterday" },
		"the digest of the answer":        func(c *proof.Claims) { c.Decision = "answered" },
		"the digest of the answer is":     func(c *proof.Claims) { c.AnswerDigest = c.Digest }, // of no question
		"not Unicode":                     func(c *proof.Claims) { c.Rule = "\xff" },
		"too long: a proof has 16 KB at ": func(c *proof.Claims) { c.By = strings.Repeat("x", 16<<10) },
	} {
		c := claims(t)
		change(&c)
		if _, err := keys.Sign(c); core.CategoryOf(err) != core.Invalid ||
			!strings.Contains(core.MessageOf(err), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A name in another encoding is shown as JSON has it; it does not keep a decision from being proved.
func TestNamesThatAreNotUnicodeAreCleaned(t *testing.T) {
	a := decided(t, core.Approved, deploy)
	a.DecidedBy.Name = "An\xffn"
	c, err := proof.Of(a)
	if err != nil || c.By != "An\ufffdn" {
		t.Fatalf("%+v, %v", c, err)
	}
	sign(t, keysOf(t, thisYear), c)
}

func TestClaimsOfAnAnswerHaveItsDigest(t *testing.T) {
	a := decided(t, core.Answered, `{"question":"Which region?"}`)
	a.Votes = []core.Vote{{Choice: core.Answer, Answer: json.RawMessage(`{"b": 1.0, "a": "eu"}`)}}
	c, err := proof.Of(a)
	if want, _ := proof.Digest([]byte(`{"a":"eu","b":1}`)); err != nil || c.Decision != "answered" ||
		c.AnswerDigest != want {
		t.Fatalf("%+v, %v", c, err)
	}
	sign(t, keysOf(t, thisYear), c)
}
