package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"gatehouse/core"
)

// Entry is one line of the audit log. Hash is a MAC over the entry and the hash before it, made with the secret key
// whose id is Key. Action, Actor and Detail hold no message text, and of people only ids. Reason is a person's text,
// and can be erased: the hash covers ReasonDigest, not Reason.
type Entry struct {
	Seq      int64
	At       time.Time
	Approval core.ApprovalID
	// opened, voted, rejected, approved, denied, expired, cancelled, begun, settled, unknown, or one of those below
	Action       string
	Actor        string
	Detail       string
	Reason       string
	ReasonDigest string         // "" = no reason was given
	Session      core.SessionID // with which the reason is erased; "" without a reason
	Key          string
	Prev         string
	Hash         string
}

// Sent is the action of a card that reached a destination for the first time.
const Sent = "sent"

// Undelivered is the action of a process that found out that nobody was told of a request of another agent: none of
// its cards has arrived.
const Undelivered = "undelivered"

// Changed is the action of a vote that took the place of an earlier one of the same person.
const Changed = "changed"

// Rejected is the action of a vote that did not count: its voter may not decide, came too late, or named no approval
// that exists.
const Rejected = "rejected"

// Altered is the action of a person who tried to approve a call that is not the one that was asked for.
const Altered = "refused_altered"

// NotRun is the action of a turn that ended without running its approved call.
const NotRun = "not_run"

// Edited is the action of an approver who changed the arguments of the call; its detail has the digest of the changed
// call.
const Edited = "edited"

// Revealed is the action of a person who read an approval's call with what is masked elsewhere.
const Revealed = "revealed"

// Used is the action of a call that began because this approval is remembered. Its entries count the uses, whatever the
// database has of the approvals of these calls.
const Used = "used"

// Amended is the action of a person who changed or deleted the message that the approval was requested for, while it
// was open.
const Amended = "amended"

// Erased is the action of an admin who erased a person: an approval that they asked for or voted on has no names of
// theirs any more, and maybe no texts.
const Erased = "erased"

// The actions of an approval that was open for a while: its approvers were reminded; a reminder was left out, since a
// later one was due, too; or further people may decide.
const (
	Reminded  = "reminded"
	Overtaken = "overtaken"
	Escalated = "escalated"
)

// Head is the last entry of the audit log, and the time before which decided approvals were pruned. Seal is a MAC over
// it, so that who can write the database, but has no key, can't cut the log and adapt the head.
type Head struct {
	Seq    int64
	Hash   string
	Pruned time.Time
	Seal   string
}

// ResultDigest returns the digest of a result's content, as the database keeps it; "" for an empty one, which is not
// told from an erased one.
func ResultDigest(content string) string {
	if content == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(string([]rune(content)))) // JSON text keeps no invalid UTF-8
	return hex.EncodeToString(sum[:])
}

// Outcome is what the log says of how a call ended: succeeded, or the category.
func Outcome(c core.Category) string {
	if c == "" {
		return "succeeded"
	}
	return string(c)
}

// The kinds of digests in the log.
const (
	OfCall   = "call"   // core.Call.Digest
	OfResult = "result" // ResultDigest
	OfTerms  = "terms"  // Terms
	OfRecord = "record" // Record
	OfFacts  = "facts"  // Facts
	OfTexts  = "texts"  // Texts
)

// Held returns what an entry holds of a digest of one of the kinds, as Keys.Digest makes it; "" if it holds none.
func (e Entry) Held(kind string) string {
	mark := kind + " "
	i := strings.LastIndex(e.Detail, mark)
	if i < 0 {
		return ""
	}
	held, _, _ := strings.Cut(e.Detail[i+len(mark):], ",")
	if len(held) != hex.EncodedLen(sha256.Size) { // it is part of a name
		return ""
	}
	return held
}
