package mask

import (
	"regexp"
	"slices"
	"strings"
)

// Growing is Text of a text that comes in pieces: what it shows at any moment is the beginning of what Text shows of
// the whole, however the text goes on. So nothing of a secret is ever shown, wherever the pieces are cut. It costs what
// the last lines cost, not what the whole does.
//
// What it holds back: the last word, which is all that may still become a token, a password in a URL up to its end, and
// a private key up to its own.
// Decision (2026-11): a word is every run of the characters of which tokens are made, however long. Rejected: to hold
// back what may begin one of the forms. That shows the last word a moment sooner, and each new form would have to be
// written twice.
type Growing struct {
	done strings.Builder // masked
	rest string          // from the beginning of a line
}

var (
	lastWord = regexp.MustCompile(`[\w.~+/=%-]*$`)
	// beganKey is a private key that has not ended, or may have begun.
	beganKey = regexp.MustCompile(`-----BEGIN (?:[A-Z ]{0,40}-{0,5}|` +
		`[A-Z ]{0,20}PRIVATE KEY-----[A-Za-z0-9+/=,:\s\\-]*)$`)
	// beganPassword is what may be a password in a URL.
	beganPassword = regexp.MustCompile(`://[^/\s:@]{0,256}:([^/\s@]{0,256})$`)
)

// Add takes the next piece.
func (g *Growing) Add(piece string) {
	g.rest += piece
	shown := g.rest[:settled(g.rest)]
	line := strings.LastIndexByte(shown, '\n') + 1
	for _, key := range keys(shown) {
		if key[0] < line && line < key[1] {
			line = 0
		}
	}
	g.done.WriteString(Text(shown[:line]))
	g.rest = g.rest[line:]
}

// Text is what can be shown so far.
func (g *Growing) Text() string { return g.done.String() + Text(g.rest[:settled(g.rest)]) }

// settled is up to where a text shows the same however it goes on.
func settled(text string) int {
	all, ended := keys(text), 0
	if len(all) > 0 {
		ended = all[len(all)-1][1]
	}
	at := wordBefore(text)
	if began := beganKey.FindStringIndex(text[ended:]); began != nil {
		at = min(at, wordBefore(text[:ended+began[0]]))
	}
	if password := beganPassword.FindStringSubmatchIndex(text); password != nil {
		at = min(at, password[2])
	}
	for _, key := range slices.Backward(all) {
		if key[0] < at && at < key[1] { // the word is its end
			at = wordBefore(text[:key[0]])
		}
	}
	return at
}

// wordBefore is where the word begins at the end of a text.
func wordBefore(text string) int { return lastWord.FindStringIndex(text)[0] }

// keys are the places of private keys.
func keys(text string) [][]int {
	if !strings.Contains(text, "-----END") {
		return nil
	}
	return secretForms()[0].pattern.FindAllStringIndex(text, -1)
}
