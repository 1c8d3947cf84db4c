package native

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core/hrf"
)

var channels = []string{hrf.Analysis, hrf.Commentary, hrf.Final}

func (r *reader) role(p part, f *frame) error {
	return r.words(p, func(word part) error {
		switch {
		case isRecipient(word):
			return r.recipient(word, f)
		case f.role != "":
			return r.unexpected(word, "the role is one word")
		}
		f.role = word.text
		return nil
	})
}

// channel omits an unknown channel, and what follows the first word.
func (r *reader) channel(p part, f *frame) error {
	named := false
	return r.words(p, func(word part) error {
		name := strings.ToLower(word.text)
		switch {
		case isRecipient(word):
			return r.recipient(word, f)
		case named:
			r.omit(word.at, "%s; the channel is one word", word.text)
		case slices.Contains(channels, name):
			f.channel = name
		case f.role == hrf.Assistant:
			r.omit(word.at, "the unknown channel %s; the message counts as %s", word.text, hrf.Final)
		default:
			r.omit(word.at, "the unknown channel %s; channels are %s", word.text, strings.Join(channels, ", "))
		}
		named = true
		return nil
	})
}

func (r *reader) contentType(p part, f *frame) error {
	return r.words(p, func(word part) error {
		if f.contentType != "" {
			return r.unexpected(word, "the type is one word")
		}
		f.contentType = word.text
		return nil
	})
}

func isRecipient(word part) bool { return strings.HasPrefix(word.text, recipientMark) }

func (r *reader) recipient(word part, f *frame) error {
	name := strings.TrimPrefix(word.text, recipientMark)
	if name == "" || f.recipient != "" {
		return r.unexpected(word, "a message has one recipient, as "+recipientMark+"NAME")
	}
	f.recipient = name
	return nil
}

func (r *reader) unexpected(word part, hint string) error {
	return r.fail(word.at, "unexpected "+word.text, hint)
}

// words gives the words of a part to read, in their order. None may look like a token.
func (r *reader) words(p part, read func(word part) error) error {
	for at := 0; ; {
		gap := strings.IndexFunc(p.text[at:], isNoSpace)
		if gap < 0 {
			return nil
		}
		at += gap
		word := part{p.text[at:], p.at + at}
		if space := strings.IndexFunc(word.text, unicode.IsSpace); space >= 0 {
			word.text = word.text[:space]
		}
		if strings.Contains(word.text, bracket) {
			return r.fail(word.at, fmt.Sprintf("unknown token %s", word.text), "tokens are "+strings.Join(tokens, " "))
		}
		if err := read(word); err != nil {
			return err
		}
		at += len(word.text)
	}
}
