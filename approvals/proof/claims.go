package proof

import (
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// Issuer is the issuer of each proof.
const Issuer = "gatehouse"

// Claims is what a proof says.
type Claims struct {
	Issuer    string `json:"iss"`
	Subject   string `json:"sub"` // the approval's id
	IssuedAt  int64  `json:"iat"` // when it was decided, in seconds since 1970
	Action    string `json:"action"`
	Digest    string `json:"digest"` // of the arguments: see Digest
	Decision  string `json:"decision"`
	By        string `json:"by,omitempty"` // who decided, as people know them
	ByID      string `json:"by_id,omitempty"`
	At        string `json:"at"` // IssuedAt in RFC 3339
	Rule      string `json:"rule,omitempty"`
	Principal string `json:"principal,omitempty"` // who asked

	AnswerDigest string `json:"answer_digest,omitempty"` // of the answer to a question, as a JSON value: see Digest
}

// answered is the decision that is an answer.
const answered = "answered"

// decisions are the values of Claims.Decision.
var decisions = []string{string(core.Approved), string(core.Denied), string(core.Expired), string(core.Cancelled), answered}

// Of makes the claims about a decided approval. Principal is the id of who asked; the caller sets AnswerDigest, which an answered question needs.
//
// Error: invalid. The approval is still open, its arguments were erased, or it is not the call that was asked for.
func Of(a core.Approval) (Claims, error) {
	switch digest, err := tool.Digest(a.Call.Tool, a.Call.Arguments); {
	case !slices.Contains(decisions, string(a.State)) || a.DecidedAt.IsZero():
		return Claims{}, core.Errorf(core.Invalid, "The approval %s is not decided, so there is nothing to prove. Ask again when it is.", a.ID)
	case erased(a.Call):
		return Claims{}, core.Errorf(core.Invalid, "The arguments of the approval %s were erased, so nobody can prove what they were. Use the proof that was given before.", a.ID)
	case err != nil || digest != a.Call.Digest:
		return Claims{}, core.Errorf(core.Invalid,
			"The stored arguments of the approval %s are not those that were asked for, so no proof is given of them. Tell whoever runs gatehouse: somebody changed its database.", a.ID)
	}
	digest, err := Digest(a.Call.Arguments)
	if err != nil {
		return Claims{}, err
	}
	clean := func(text string) string { return strings.ToValidUTF8(text, "\ufffd") } // as JSON has them
	at := a.DecidedAt.UTC()
	return Claims{
		Issuer: Issuer, Subject: string(a.ID), IssuedAt: at.Unix(), Action: a.Call.Tool, Digest: digest, Decision: string(a.State),
		By: clean(a.DecidedBy.Called()), ByID: clean(a.DecidedBy.ID), At: at.Format(time.RFC3339), Rule: clean(a.Rule.Name), Principal: clean(a.Requester.ID),
	}, nil
}

// erased reports whether the arguments were erased with the session; no call is without.
func erased(c core.Call) bool {
	text := string(c.Arguments)
	return c.Digest == "" && (text == "" || text == "null")
}

// Covers is nil if the proof is of these arguments: the same JSON value, however it is laid out. Error: invalid.
func (c Claims) Covers(arguments []byte) error {
	digest, err := Digest(arguments)
	if err != nil {
		return core.Errorf(core.Invalid, "The arguments can't be compared with the proof. %s", core.MessageOf(err))
	}
	if digest != c.Digest {
		return core.Errorf(core.Invalid, "The proof is of other arguments: their digest is %s, that of these is %s. Do not carry this out; ask for an approval of it.", c.Digest, digest)
	}
	return nil
}

// fault is what is missing or wrong in claims; "" if nothing is.
func (c Claims) fault() string {
	at, err := time.Parse(time.RFC3339, c.At)
	switch {
	case c.Issuer != Issuer:
		return "the issuer"
	case c.Subject == "":
		return "the approval's id"
	case c.Action == "":
		return "the action"
	case !isDigest(c.Digest):
		return "the digest of the arguments"
	case !slices.Contains(decisions, c.Decision):
		return "the decision"
	case err != nil || at.Unix() != c.IssuedAt:
		return "the time"
	case c.Decision == answered && !isDigest(c.AnswerDigest), c.Decision != answered && c.AnswerDigest != "":
		return "the digest of the answer"
	}
	return ""
}

func isDigest(text string) bool {
	sum, ok := strings.CutPrefix(text, digestPrefix)
	raw, err := hex.DecodeString(sum)
	return ok && err == nil && len(raw) == 32 && sum == strings.ToLower(sum)
}
