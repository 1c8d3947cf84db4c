package chat

import "testing"

// Invisible characters are escaped, because a tool or a model would read them. Those that are part of letters and emoji stay.
func TestNothingIsHiddenFromAnApprover(t *testing.T) {
	for text, want := range map[string]string{
		"a\u200bb\u2060c\ufeffd\u00ade": `a\u200bb\u2060c\ufeffd\u00ade`,
		"a\u2063b\u3164c\ufe01d\u034fe": `a\u2063b\u3164c\ufe01d\u034fe`,
		"x\U000e0148y\U000e0041":        `x\udb40\udd48y\udb40\udc41`,
		"a\u202eb":                      `a\u202eb`,
		"❤\ufe0f 👩\u200d👧 نمی\u200cخواهم é ü": "❤\ufe0f 👩\u200d👧 نمی\u200cخواهم é ü",
	} {
		if got := Reveal(text); got != want {
			t.Errorf("%+q is shown as %+q, want %+q", text, got, want)
		}
	}
}
