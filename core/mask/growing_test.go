package mask_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatehouse/core/mask"
)

// parts are what texts are made of: words, secrets of all forms, and pieces of them.
var parts = []string{
	"Hello ", "the key is ", "\n", " ", ",", "\"", "(", ")", "é", "•", ":", "/", "-", ".", "a", "9", "Bearer ",
	"bearer ",
	"`", "\\n", "=", "%41", "@", "://", "https://", "user", "?token=",
	"sk-0123456789abcdef0123456789abcdef", "sk-ant-api03-" + strings.Repeat("aB3_", 20),
	"sk-" + strings.Repeat("aB3x", 12), "ghp_" + strings.Repeat("aB3x", 9), "AKIA0123456789ABCDEF",
	"xoxb-1234567890-1234567890-" + strings.Repeat("aB3x", 6), "xoxe.xoxb-" + strings.Repeat("aB3x", 9),
	"glpat-aB3xaB3xaB3xaB3xaB3x", "AIza" + strings.Repeat("aB3_x", 7),
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjMifQ.aB3xaB3xaB3xaB3xaB3xaB3x",
	"MTIzNDU2Nzg5MDEyMzQ1Njc4.aB3xaB.aB3xaB3xaB3xaB3xaB3xaB3xaB3x",
	"https://discord.com/api/webhooks/123456789012345678/" + strings.Repeat("aB3_", 17),
	"postgres://user:hunter2@db/x", "aB3xaB3xaB3xaB3xaB3xaB3x",
	"-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("aB3x", 16)+"\n", 3) + "aB3x\n" +
		"-----END RSA PRIVATE KEY-----",
	"-----BEGIN PRIVATE KEY-----\\naB3xaB3xaB3x\\n-----END PRIVATE KEY-----",
	"-----BEGIN ", "RSA PRIVATE KEY-----", "-----END ", "PRIVATE KEY-----", "-----BEGIN CERTIFICATE-----\n",
}

// TestWhatIsShownOfAGrowingTextIsTheBeginningOfTheWhole, in whatever pieces it comes: so nothing of a secret is shown.
func TestWhatIsShownOfAGrowingTextIsTheBeginningOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for _, part := range rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(t, "parts") {
			if rapid.Bool().Draw(t, "half") {
				part = part[:rapid.IntRange(0, len(part)).Draw(t, "cut")]
			}
			b.WriteString(part)
		}
		text := strings.ToValidUTF8(b.String(), "")
		whole := mask.Text(text)
		var g mask.Growing
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "piece")
			g.Add(rest[:n])
			rest = rest[n:]
			if shown := g.Text(); !strings.HasPrefix(whole, shown) {
				t.Fatalf("of %q, before %q, is shown\n%q, in the end it is\n%q", text, rest, shown, whole)
			}
		}
		g.Add("\n") // no word goes on
		if shown := g.Text(); !strings.Contains(text, "-----BEGIN") && shown != mask.Text(text+"\n") {
			t.Fatalf("of the whole %q is shown\n%q, not\n%q", text, shown, whole)
		}
	})
}

// TestEachSecretIsHeldBackAtEveryCut.
func TestEachSecretIsHeldBackAtEveryCut(t *testing.T) {
	for _, secret := range parts {
		masked := mask.Text("It is " + secret + " .")
		if !strings.Contains(masked, mask.Mark) {
			continue
		}
		text := "It is " + secret + " .\n"
		for cut := range text {
			var g mask.Growing
			g.Add(text[:cut])
			if shown := g.Text(); !strings.HasPrefix(masked, shown) {
				t.Errorf("up to %d of %q is shown %q", cut, secret, shown)
			}
			g.Add(text[cut:])
			if shown := g.Text(); shown != masked+"\n" {
				t.Errorf("the whole, cut at %d, is shown as %q, not as %q", cut, shown, masked)
			}
		}
	}
}
