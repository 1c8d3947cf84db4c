package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"regexp"
	"strings"

	"gatehouse/core"
)

// Token is a person's token. Only its digest is kept.
//
// A name has one token. To replace it, change it in the list: logins with the old one end (see Gate.Use). If
// the old one must hold for a while, give the new one another name, and name both ids as one person's in the approval
// policy; their conversations stay apart.
type Token struct {
	Name     string
	Approver bool // may approve where no rule of a policy says who may

	digest [sha256.Size]byte
}

// ID is the person's id.
func (t Token) ID() string { return Platform + ":" + t.Name }

// minToken is how many characters a token needs: a shorter one could be guessed.
const minToken = 16

// localName is the name of the local person.
const localName = "local"

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// ParseTokens reads "name=token,name!=token"; the exclamation mark makes an approver. The error, of category invalid,
// has a line for each fault, with the entry's number and name. It shows nothing that may be a token, whatever the order
// of name and token.
func ParseTokens(list string) ([]Token, error) {
	var all []Token
	var faults []string
	names, digests := map[string]int{}, map[[sha256.Size]byte]int{}
	for i, entry := range strings.Split(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		t, what := parseToken(entry)
		same, known := names[strings.ToLower(t.Name)], digests[t.digest]
		switch {
		case what != "":
		case same > 0:
			what = fmt.Sprintf("entry %d has the same name, maybe in other case; give each person one token", same)
		case known > 0:
			what = fmt.Sprintf("entry %d has the same token; give each person their own", known)
		default:
			names[strings.ToLower(t.Name)], digests[t.digest] = i+1, i+1
			all = append(all, t)
			continue
		}
		shown := ""
		if nameForm.MatchString(t.Name) && len(t.Name) < minToken {
			shown = " (" + t.Name + ")"
		}
		faults = append(faults, fmt.Sprintf("entry %d%s: %s", i+1, shown, what))
	}
	if len(faults) > 0 {
		return nil, core.Errorf(core.Invalid, "%s", strings.Join(faults, "\n"))
	}
	return all, nil
}

// parseToken reads an entry; what is the fault, "" = none. A token may contain the signs that separate it from its
// name.
func parseToken(entry string) (t Token, what string) {
	who, token, found := strings.Cut(entry, "=")
	t.Name, t.Approver = strings.CutSuffix(who, "!")
	t.digest = sha256.Sum256([]byte(token))
	switch {
	case !found:
		return Token{}, "it is not of the form name=token"
	case !nameForm.MatchString(t.Name):
		return t, "the name can't be used; take up to 64 letters, digits, _, . and -, the first of them a letter or " +
			"a digit"
	case strings.EqualFold(t.Name, localName):
		return t, "the name is that of the person at gatehouse's own machine; take another one"
	}
	return t, tokenFault(token)
}

// tokenFault is why a token can't be used; "" if it can.
func tokenFault(token string) string {
	switch {
	case strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }):
		return "the token has a space or another character that a header can't hold; use letters, digits and signs " +
			"of ASCII"
	case len(token) < minToken:
		return fmt.Sprintf("the token is too short; use %d characters or more, such as those that openssl rand -hex "+
			"16 prints", minToken)
	}
	return ""
}

// holder returns the token that this is. It takes the same time for each token that is wrong.
func (a *admitted) holder(token string) (who Token, ok bool) {
	digest := sha256.Sum256([]byte(token))
	for _, t := range a.tokens {
		if subtle.ConstantTimeCompare(t.digest[:], digest[:]) == 1 {
			who, ok = t, true
		}
	}
	return who, ok
}
