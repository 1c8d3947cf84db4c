package discord

import (
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strconv"
	"strings"

	"gatehouse/core"
)

// Each of our messages bears two names of its post and part. The nonce is Discord's own: for some minutes it keeps the same message
// from being posted twice. It is not stored with the message (discord.py #2451), so that it can't be looked for later. For that the text
// ends with a mark of characters without width, which nobody sees. Both are made of a seal, so that nobody else can make them.

// markSize is how many UTF-16 units a mark takes.
const markSize = 1 + 2 + markBytes*4

const markBytes = 6

// edge stands at both ends of a mark: it keeps the others, which may join letters, off the text.
const edge = '\u2060'

var markDigits = []rune{'\u200b', '\u200c', '\u200d', '\u2060'}

// named is the hash of a part of a post.
func (p painter) named(d core.Delivery) [sha256.Size]byte {
	return sha256.Sum256([]byte(p.seal("part", d.Key, strconv.Itoa(d.Part))))
}

// nonce names a part of a post to Discord.
func (p painter) nonce(d core.Delivery) string {
	sum := p.named(d)
	const bytes = maxNonce * 3 / 4
	return base64.RawURLEncoding.EncodeToString(sum[:bytes])
}

// mark names a part of a post within its text. The space before it keeps it off an address.
func (p painter) mark(d core.Delivery) string {
	sum := p.named(d)
	var b strings.Builder
	b.WriteByte(' ')
	b.WriteRune(edge)
	for _, one := range sum[len(sum)-markBytes:] {
		for shift := 6; shift >= 0; shift -= 2 {
			b.WriteRune(markDigits[one>>shift&3])
		}
	}
	b.WriteRune(edge)
	return b.String()
}

var anyMark = regexp.MustCompile(`\x{2060}[\x{200b}\x{200c}\x{200d}\x{2060}]{24}\x{2060}`)

// unmarked is a message's text without its mark.
func unmarked(text string) string { return strings.TrimSpace(anyMark.ReplaceAllString(text, "")) }

// bears reports whether a message's text is that of a part: by its mark, or by its words where marks do not come through.
func (p painter) bears(text string, d core.Delivery, m drawn) bool {
	if strings.Contains(text, strings.TrimSpace(p.mark(d))) {
		return true
	}
	return !anyMark.MatchString(text) && strings.TrimSpace(text) == strings.TrimSpace(m.Text)
}
