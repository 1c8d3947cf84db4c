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

	AnswerDigest string `json:"answer_digest,omitempty"` // of the answer to a question: see Digest
}

// decisions are the values of Claims.Decision.
var decisions = []string{
	string(core.Approved), string(core.Denied), string(core.Expired), string(core.Cancelled), string(core.Answered),
}

// Of makes the claims about a decided approval, or an answered question. Principal is the id of who asked; the caller
// may set another name. Of a call whose arguments an approver has changed, they are about the changed ones: those were
// decided.
//
// Error: invalid. The approval is still open, its arguments or its answer were erased, or it is not the call that was
// asked for.
func Of(a core.Approval) (Claims, error) {
	switch digest, err := tool.Digest(a.Call.Tool, a.Call.Arguments); {
	case !slices.Contains(decisions, string(a.State)) || a.DecidedAt.IsZero():
		return Claims{}, core.Errorf(core.Invalid, "The approval %s is not decided, so there is nothing to prove. "+
			"Ask again when it is.", a.ID)
	case erased(a):
		return Claims{}, core.Errorf(core.Invalid, "The content of the approval %s was erased, so nobody can prove "+
			"what it was. Use the proof that was given before.", a.ID)
	case err != nil || digest != a.Call.Digest:
		return Claims{}, core.Errorf(core.Invalid,
			"The stored arguments of the approval %s are not those that were asked for, so no proof is given of "+
				"them. Tell whoever runs gatehouse: somebody changed its database.", a.ID)
	}
	digest, err := Digest(a.Call.Arguments)
	if err != nil {
		return Claims{}, err
	}
	answer := ""
	if a.State == core.Answered {
		if answer, err = Digest(a.Answer()); err != nil {
			return Claims{}, err
		}
	}
	clean := func(text string) string { return strings.ToValidUTF8(text, "\ufffd") } // as JSON has them
	at := a.DecidedAt.UTC()
	return Claims{
		Issuer: Issuer, Subject: string(a.ID), IssuedAt: at.Unix(), Action: a.Call.Tool, Digest: digest,
		Decision: string(a.State),
		By:       clean(a.DecidedBy.Called()), ByID: clean(a.DecidedBy.ID), At: at.Format(time.RFC3339),
		Rule: clean(a.Rule.Name), Principal: clean(a.Requester.ID),
		AnswerDigest: answer,
	}, nil
}

// erased reports whether the arguments or the answer were erased with the session; no call is without arguments, and no
// answered question without an answer.
func erased(a core.Approval) bool {
	arguments := string(a.Call.Arguments)
	return a.Call.Digest == "" && (arguments == "" || arguments == "null") ||
		a.State == core.Answered && len(a.Answer()) == 0
}

// Covers is nil if the proof is of these arguments: the same JSON value, however it is laid out. Error: invalid.
func (c Claims) Covers(arguments []byte) error {
	digest, err := Digest(arguments)
	if err != nil {
		return core.Errorf(core.Invalid, "The arguments can't be compared with the proof. %s", core.MessageOf(err))
	}
	if digest != c.Digest {
		return core.Errorf(core.Invalid,
			"The proof is of other arguments: their digest is %s, that of these is %s. Do not carry this out; ask "+
				"for an approval of it.", c.Digest, digest)
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
	case c.Decision == string(core.Answered) && !isDigest(c.AnswerDigest),
		c.Decision != string(core.Answered) && c.AnswerDigest != "":
		return "the digest of the answer"
	}
	return ""
}

func isDigest(text string) bool {
	sum, ok := strings.CutPrefix(text, digestPrefix)
	raw, err := hex.DecodeString(sum)
	return ok && err == nil && len(raw) == 32 && sum == strings.ToLower(sum)
}
