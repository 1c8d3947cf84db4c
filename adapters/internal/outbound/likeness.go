package outbound

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"gatehouse/adapters/wording"
	"gatehouse/core/mask"
)

// signs are what people know a card by, as a folding of texts returns it: headlines that only cards have, single words
// that many sentences begin with, labels of fields that cards alone have, and those of others.
type signs struct {
	folding
	headlines, verdicts, own, labels []string
}

// folding is what of a text is compared.
type folding bool

// The foldings.
const (
	letters folding = false // Latin letters, and those that look like them
	script  folding = true  // letters of any script, as they are
)

func (f folding) of(text string) string {
	if f == script {
		return scriptOf(text)
	}
	return lettersOf(text)
}

// builtIn are those of the built-in texts.
var builtIn = signsOf(wording.BuiltIn, letters)

// signsOf are those of some texts, with the beginnings of built-in ones and of those before them.
func signsOf(t *wording.Texts, fold folding) signs {
	return signs{fold,
		folded(fold, t.HeadlineApproval, t.HeadlineDangerous, t.HeadlineReminder, t.HeadlineEscalated,
			t.HeadlineExpired,
			t.HeadlineQuestion, t.HeadlineQuestionReminder, t.HeadlineQuestionExpired,
			"Reminder: an approval is", "Nobody has decided yet", "It was not decided in time", "A question for you",
			"Reminder: a question", "Nobody answered in time"),
		folded(fold, t.HeadlineApproved, t.HeadlineDenied, t.HeadlineCancelled, t.HeadlineAnswered,
			t.HeadlineQuestionCancelled, "Expired"),
		folded(fold, t.LabelAskedBy, t.LabelMayDecide, t.LabelMayAnswer, t.LabelApprovedSoFar, t.LabelDeniedSoFar),
		folded(fold, t.LabelTool, t.LabelExpires, t.LabelMessage, t.LabelArguments, t.LabelReason, t.LabelResult,
			t.LabelApprovedBy, t.LabelDeniedBy, t.LabelApprovedAt, t.LabelDeniedAt),
	}
}

// folded are texts without those of which a folding leaves too little to know them by.
func folded(fold folding, texts ...string) (all []string) {
	for _, text := range texts {
		if sign := fold.of(text); 2*len(sign) > len(strings.TrimFunc(text, notLetter)) {
			all = append(all, sign)
		}
	}
	return all
}

// LooksLikeCard reports whether people could take a reply for an approval's card, wherever it is shown, with the
// built-in texts or these: a line of it begins with a card's headline, or it has two labels of a card's fields, one of
// which nothing else has. Letters count as those that they look like; what is no letter does not count.
func LooksLikeCard(text string, t *wording.Texts) bool {
	if t = t.Or(); *t == *wording.BuiltIn {
		return builtIn.in(text)
	}
	return builtIn.in(text) || signsOf(t, letters).in(text) || signsOf(t, script).in(text)
}

func (s signs) in(text string) bool {
	var lines []string // folded
	var marked []bool  // headings, bold lines, and those with a card's sign
	found := map[string]bool{}
	own := false
	begun := func(text string, signs []string) (found string) {
		if at := slices.IndexFunc(signs, func(sign string) bool { return strings.HasPrefix(text, sign) }); at >= 0 {
			found = signs[at]
		}
		return found
	}
	for line := range strings.Lines(html.UnescapeString(text)) {
		whole := s.of(line)
		for cell := range strings.SplitSeq(line, "|") {
			if len(cell) == len(line) {
				cell = whole
			} else {
				cell = s.of(cell)
			}
			if label := begun(cell, s.own); label != "" {
				found[label], own = true, true
			} else if label := begun(cell, s.labels); label != "" {
				found[label] = true
			}
		}
		lines = append(lines, whole)
		marked = append(marked, headSigns.MatchString(line))
	}
	if own && len(found) > 1 {
		return true
	}
	for i, line := range lines {
		reads := strings.Join(lines[i:min(i+4, len(lines))], "")
		holds := func(headline string) bool { return strings.Contains(line, headline) }
		switch {
		case begun(reads, s.headlines) != "", slices.Contains(s.verdicts, line):
			return true
		case marked[i] && (slices.ContainsFunc(s.headlines, holds) || begun(reads, s.verdicts) != ""):
			return true
		}
	}
	return false
}

// headSigns match what makes a line a headline: of Markdown, or the sign of a card.
var headSigns = regexp.MustCompile(
	`^\W*#|\*\*|__|[🔔⚠✅⛔⌛🚫❓]|:(?:bell|warning|white_check_mark|no_entry(?:_sign)?|hourglass|question):`)

// noLetters are short codes of emojis, and the numbers of a list.
var noLetters = regexp.MustCompile(`:[a-z0-9_+-]+:|^\W*\d+[.)]`)

// lettersOf are the letters of a text as a reader could take them: see mask.AsASCII. Accents don't count; I, l and 1
// are one letter, and so are O and 0.
func lettersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if letter := mask.AsASCII(r); letter != 0 {
			r = letter
		}
		switch r = unicode.ToLower(r); {
		case r == 'i' || r == '1':
			return 'l'
		case r == '0':
			return 'o'
		case 'a' <= r && r <= 'z':
			return r
		}
		return -1
	}, norm.NFKD.String(noLetters.ReplaceAllString(text, "")))
}

// scriptOf are the letters of a text in any script, as they are.
func scriptOf(text string) string {
	return strings.Map(func(r rune) rune {
		if notLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(noLetters.ReplaceAllString(text, "")))
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }
