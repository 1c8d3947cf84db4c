package mask_test

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"gatehouse/core/mask"
)

// TestWhatJoinsIsText: emoji of several, hearts, words of Persian and of Indian scripts are shown as they were written.
func TestWhatJoinsIsText(t *testing.T) {
	for _, text := range []string{
		"❤️", "I ❤️ it", "1️⃣ #️⃣ *️⃣", "☎️ ©️ ⌚️", "👨\u200d👩\u200d👧", "👩🏽\u200d🚀", "👁️\u200d🗨️",
		"👁\u200d🗨", "🏳️\u200d🌈 🏴\u200d☠️", "❤️\u200d🔥❤\u200d🔥",
		"👩🏻\u200d❤️\u200d💋\u200d👩🏿", "🧑🏽\u200d🤝\u200d🧑🏿",
		"🏃🏾\u200d♀️\u200d➡️", "🐦\u200d🔥 🍋\u200d🟩 🙂\u200d↔️", "👨\u200d💻👩\u200d💻",
		"می\u200cخواهم", "نمی\u200cشود: کتاب\u200cها", "«خانه\u200cای»", "می\u064e\u200cخ",
		"क्\u200dष क्\u200cष", "ശ്\u200dരീ", "ක්\u200dෂ", "র্\u200dয", "শ্\u200cক",
	} {
		if got := mask.Escape(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
		if got := mask.EscapeLine(text); got != text {
			t.Errorf("%q on one line became %q", text, got)
		}
		if mask.LookAlike(text) {
			t.Errorf("%q is a name that something is hidden in", text)
		}
	}
}

// TestWhatOnlyHidesIsEscaped: the same characters where they do nothing.
func TestWhatOnlyHidesIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"a\ufe0fb": `a\ufe0fb`, "\ufe0fa": `\ufe0fa`, "❤\ufe0f\ufe0f": "❤\ufe0f" + `\ufe0f`, "👨\ufe0f": `👨\ufe0f`,
		"❤\ufe0e": `❤\ufe0e`, "pay\u200dme": `pay\u200dme`, "pay\u200cme": `pay\u200cme`, "1\u200d2": `1\u200d2`,
		"👍\u200d👍": `👍\u200d👍`, "👨\u200d": `👨\u200d`, "\u200d👨": `\u200d👨`, "👨\u200d\u200d👩": `👨\u200d\u200d👩`,
		"👨\u200d👩\u200d👧\u200d🚀": "👨\u200d👩\u200d👧" + `\u200d🚀`, "👨\u200dx": `👨\u200dx`,
		"👩\ufe0f\u200d🚀": `👩\ufe0f\u200d🚀`,
		"م\u200cی\u200c": "م\u200cی" + `\u200c`, "م\u200c\u200cی": `م\u200c\u200cی`, "م\u200dی": `م\u200dی`,
		"د\u200cم": `د\u200cم`, "م\u200ca": `م\u200ca`, "م\u00ad\u200cی": `م\u00ad\u200cی`, "\u200cم": `\u200cم`,
		"م\u200c\u064e": "م" + `\u200c` + "\u064e", "क\u200dष": `क\u200dष`, "क्\u200d\u200dष": "क्\u200d" + `\u200dष`,
		"क्\u200b\u200dष": "क्" + `\u200b\u200dष`, "🏴\U000e0067\U000e007f": `🏴\udb40\udc67\udb40\udc7f`,
		"m\u0308\u200cn": "m\u0308" + `\u200cn`,
	} {
		got := mask.Escape(text)
		if got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
		if again := mask.Escape(got); again != got {
			t.Errorf("%q became %q, and then %q", text, got, again)
		}
	}
}

// TestJoinersAreThoseOfDomainNames: every letter and mark that a joiner or a non-joiner may follow by RFC 5892, as Go's
// package for domain names knows it. What may follow a non-joiner is not compared: that package takes any letter.
func TestJoinersAreThoseOfDomainNames(t *testing.T) {
	names := idna.New(idna.CheckJoiners(true))
	for r := rune(0xa0); r <= 0x1ffff; r++ {
		one := string(r)
		if !unicode.In(r, unicode.L, unicode.M) || unicode.In(r, unicode.Han, unicode.Hangul) ||
			mask.Escape(one) != one {
			continue
		}
		if unicode.ToLower(unicode.ToUpper(r)) != r || norm.NFKC.String(one) != one {
			continue // a domain's name has another in its place
		}
		all := []string{one + "\u200cم"}
		if unicode.In(r, unicode.M) {
			all = []string{"क" + one + "\u200dक", "م" + one + "\u200cم"}
		}
		for _, text := range all {
			_, err := names.ToUnicode(text)
			if kept := mask.Escape(text) == text; kept != (err == nil) {
				t.Errorf("%q is kept: %v; as a domain's name: %v", text, kept, err)
			}
		}
	}
}

func FuzzEscapingTwiceChangesNothing(f *testing.F) {
	for _, text := range []string{
		"👨\u200d👩\u200d👧\u200d🚀", "می\u200c\u200cخ", "क्\u200d\u200c", "1\ufe0f\ufe0f\u20e3", "\u200b❤\ufe0f\u200d🔥",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := mask.EscapeLine(text)
		if twice := mask.EscapeLine(once); twice != once {
			t.Errorf("%q became %q, and then %q", text, once, twice)
		}
		if strings.ContainsRune(once, '\u202e') {
			t.Errorf("%q became %q", text, once)
		}
	})
}
