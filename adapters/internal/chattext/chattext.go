// Package chattext cuts long Markdown for chat platforms (Split, Fences, Units) and detects characters that hide or reorder text (Invisible,
// Directional).
package chattext

import "unicode"

// Invisible reports whether a character is invisible: texts that look the same may differ by it, or one text may hide another. Characters
// that join or separate letters don't count, nor those that turn a sign into an emoji, because people write them.
func Invisible(r rune) bool { return unicode.Is(invisible, r) }

// Directional reports whether a character changes the writing direction or is an invisible tag.
func Directional(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' ||
		0xe0000 <= r && r <= 0xe007f
}

var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, {Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, {Lo: 0x200b, Hi: 0x200b, Stride: 1}, {Lo: 0x2060, Hi: 0x2064, Stride: 1}, {Lo: 0x206a, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0e, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff9, Hi: 0xfffb, Stride: 1},
	},
	R32:         []unicode.Range32{{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, {Lo: 0xe0080, Hi: 0xe0fff, Stride: 1}},
	LatinOffset: 1,
}
