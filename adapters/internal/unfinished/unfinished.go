// Package unfinished shows a text that is still being written: it is made safe as a whole text is, secrets in it are
// hidden wherever its pieces are cut (mask.Growing), and a name that calls people where the text may be passed on to is
// taken apart by a space of no width.
package unfinished

import (
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/core/mask"
)

// Text is a text as far as it was written. The zero Text is one of which nothing was.
type Text struct {
	raw    string // that was taken
	rest   string // of raw: half of a character, or of a line end
	masked mask.Growing
}

// Shown is what can be shown of the text, as it is now: longer than before, or another one.
func (t *Text) Shown(now string) string {
	if !strings.HasPrefix(now, t.raw) {
		*t = Text{}
	}
	t.add(now[len(t.raw):])
	t.raw = now
	return apart.Replace(t.masked.Text())
}

// Whole is what is shown of a text to which nothing more comes.
func Whole(text string) string { return apart.Replace(mask.Text(safetext.Clean(text))) }

// add takes what is new.
func (t *Text) add(piece string) {
	text := t.rest + piece
	end := len(text)
	for back := 1; back <= min(utf8.UTFMax, len(text)); back++ {
		if tail := text[len(text)-back:]; utf8.RuneStart(tail[0]) && (!utf8.FullRuneInString(tail) || tail == "\r") {
			end = len(text) - back
		}
	}
	t.masked.Add(safetext.Clean(text[:end]))
	t.rest = text[end:]
}

// apart takes apart what calls people on some platform.
var apart = strings.NewReplacer(
	"@everyone", "@\u200beveryone", "@here", "@\u200bhere", "@channel", "@\u200bchannel",
	"<@", "<\u200b@", "<!", "<\u200b!", "<#", "<\u200b#",
)
