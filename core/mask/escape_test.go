package mask_test

import (
	"fmt"
	"strings"
	"testing"

	"gatehouse/core/mask"
)

// TestLaw6_NothingIsInvisible: what an approver can't see is escaped; the rest of a text stays as it is.
func TestLaw6_NothingIsInvisible(t *testing.T) {
	for _, r := range []rune{
		0x00, 0x07, 0x1b, '\r', 0x7f, 0x80, 0x85, 0x9f, 0xad, 0x034f, 0x061c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e,
		0x200b, 0x200c, 0x200d, 0x200e,
		0x202e, 0x2028, 0x2029, 0x2060, 0x2064, 0x2065, 0x2066, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0,
		0xfff0, 0xfff9, 0x1bca0, 0x1d173,
		0xe0001, 0xe0041, 0xe0100, 0xe0fff,
	} {
		got := mask.Escape("a" + string(r) + "b")
		if !strings.HasPrefix(got, `a\u`) || !strings.HasSuffix(got, "b") || strings.ContainsRune(got, r) {
			t.Errorf("U+%04X is shown as %q", r, got)
		}
		if mask.Escape(got) != got {
			t.Errorf("U+%04X is escaped twice", r)
		}
	}
	for _, text := range []string{"milk", "línea\n\tzwei", "日本語 العربية עברית", "👍🏽 ☎", "“quoted” — …", "a\u00a0b"} {
		if got := mask.Escape(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got, want := mask.Escape("a\r\nb\xff"), "a\nb\ufffd"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := mask.EscapeLine("a\nb\tc\u0085"), `a\nb\tc\u0085`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := mask.Escape("👨\u200d👩"), "👨"+fmt.Sprintf(`\u%04x`, 0x200d)+"👩"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
