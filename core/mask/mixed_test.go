package mask_test

import (
	"strings"
	"testing"

	"gatehouse/core/mask"
)

func TestMixed(t *testing.T) {
	for text, want := range map[string]string{
		"https://pаypal.com":                 "pаypal (а is U+0430)",
		`{"to": "раypal", "note": "привет"}`: "раypal (р is U+0440, а is U+0430)",
		"curl https://сосо.com/x":            "сосо (с is U+0441, о is U+043E)",
		"admin@соса.example":                 "соса (с is U+0441, о is U+043E, а is U+0430)",
		"ｐaypal":                             "ｐaypal (ｐ is U+FF50)",
		"rm -rf /tmp/раth":                   "раth (р is U+0440, а is U+0430)",
		"Grοup Grοup":                        "Grοup (ο is U+03BF)",

		"https://х.com":              "х (х is U+0445)",
		`"to": "ann@х.com",`:         "х (х is U+0445)",
		`t.сo visit`:                 "",
		`https://t.сo`:               "сo (с is U+0441)",
		`"https://раy\u200bpal.com"`: "раypal (р is U+0440, а is U+0430)",
		`"a\nраypal"`:                "раypal (р is U+0440, а is U+0430)",

		"привет, сосо":                                "",
		`"Привет\nсестра\tсон"`:                       "",
		`{"j": "{\"t\": \"да\\nсон\"}"}`:              "",
		`"نمی\u200cخواهم"`:                            "",
		"https://ru.wikipedia.org/wiki/Шапка_с_ушами": "",
		"10 км/h":               "",
		"https://пример.com":    "",
		"10 μm and 3 μs":        "",
		"café Ærøskøbing kızıl": "",
		"👩‍💻 🅰️ 🇩🇪 Ⓐ ok":        "",
		"日本語 abc":               "",
		"https://paypal.com":    "",
		"":                      "",
	} {
		if got := strings.Join(mask.Mixed(text), "; "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := mask.Mixed("аaa бbа vаv gоg dеd"); len(got) != 3 {
		t.Errorf("not the first three: %q", got)
	}
}
