package chat

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"gatehouse/core/mask"
)

// headlines are those of cards, as signs returns them: long ones, and single words, which many sentences begin with.
var (
	headlines = folded("Approval needed", "Reminder: an approval is", "Nobody has decided yet", "It was not decided in time",
		"Question from the bot", "A question for you", "Reminder: a question", "Nobody answered in time")
	verdicts = folded("Approved", "Denied", "Cancelled", "Expired", "Answered", "Withdrawn")
	// labels are of fields that cards alone have, and then of others.
	labels = folded("Asked by", "May decide", "May answer", "Approved so far", "Denied so far",
		"Tool", "Expires", "Message", "Arguments", "Reason", "Result", "Approved by", "Denied by", "Approved at", "Denied at")
)

const ownLabels = 5

func folded(texts ...string) (all []string) {
	for _, text := range texts {
		all = append(all, letters(text))
	}
	return all
}

// LooksLikeCard reports whether people could take a reply for an approval's card, wherever it is shown: a line of it begins with a card's
// headline, or it has two labels of a card's fields, one of which nothing else has. Letters count as those that they look like; what is no
// letter does not count.
func LooksLikeCard(text string) bool {
	var lines []string // of letters
	var marked []bool  // headings, bold lines, and those with a card's sign
	found := map[string]bool{}
	own := false
	for line := range strings.Lines(html.UnescapeString(text)) {
		whole := letters(line)
		for cell := range strings.SplitSeq(line, "|") {
			if len(cell) == len(line) {
				cell = whole
			} else {
				cell = letters(cell)
			}
			if at := slices.IndexFunc(labels, func(label string) bool { return strings.HasPrefix(cell, label) }); at >= 0 {
				found[labels[at]] = true
				own = own || at < ownLabels
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
		begins := func(headline string) bool { return strings.HasPrefix(reads, headline) }
		holds := func(headline string) bool { return strings.Contains(line, headline) }
		switch {
		case slices.ContainsFunc(headlines, begins), slices.Contains(verdicts, line):
			return true
		case marked[i] && (slices.ContainsFunc(headlines, holds) || slices.ContainsFunc(verdicts, begins)):
			return true
		}
	}
	return false
}

// headSigns match what makes a line a headline: of Markdown, or the sign of a card.
var headSigns = regexp.MustCompile(`^\W*#|\*\*|__|[🔔⚠✅⛔⌛🚫❓]|:(?:bell|warning|white_check_mark|no_entry(?:_sign)?|hourglass|question):`)

// noLetters are short codes of emojis, and the numbers of a list.
var noLetters = regexp.MustCompile(`:[a-z0-9_+-]+:|^\W*\d+[.)]`)

// letters are the letters of a text as a reader could take them: see mask.AsASCII. Accents don't count; I, l and 1 are one letter, and so are
// O and 0.
func letters(text string) string {
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
