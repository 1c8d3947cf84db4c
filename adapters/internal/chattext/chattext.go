// Package chattext cuts long Markdown for chat platforms (Split, Fences, Units) and detects characters that reorder text (Directional).
package chattext

// Directional reports whether a character changes the writing direction or is an invisible tag.
func Directional(r rune) bool {
	return r == '\u061c' || r == '\u200e' || r == '\u200f' || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' ||
		0xe0000 <= r && r <= 0xe007f
}
