package mask

import (
	"reflect"
	"strings"
	"testing"
)

// TestFormsAreFoundByTheirParts: each form has a secret here, and whatever its pattern finds in one of them, the form
// finds.
func TestFormsAreFoundByTheirParts(t *testing.T) {
	word := func(n int) string { return strings.Repeat("aB3", n)[:n] }
	hex := func(n int) string { return strings.Repeat("0af", n)[:n] }
	secrets := []string{
		"-----BEGIN PRIVATE KEY-----\nZm9v\n-----END PRIVATE KEY-----",
		"xoxb-123456789012-123456789012-" + word(24), "xapp-1-A1B2C3D4E5-1234567890-" + hex(64),
		"xoxe.xoxp-1-" + word(40), "xoxr-" + word(30), "sk-" + hex(32), "sk-" + word(48), "sk-proj-" + word(48),
		"sk-or-v1-" + hex(64), "rk_live_" + word(24), "sk_test_" + word(24), "AIza" + word(35), "glpat-" + word(20),
		"gho_" + word(36), "ghp_" + word(36), "ghr_" + word(36), "ghs_" + word(36), "ghu_" + word(36),
		"github_pat_" + word(22) + "_" + word(59), "AKIA" + strings.Repeat("Z1", 8), "ASIA" + strings.Repeat("Z1", 8),
		"M" + word(25) + "." + word(6) + "." + word(30), "/webhooks/1234567890/" + word(68),
		"eyJ" + word(20) + "." + word(20) + "." + word(40), "bearer " + word(30), "Bearer " + word(30),
		"https://u:pw@host",
	}
	for i, form := range secretForms() {
		found := 0
		for _, secret := range secrets {
			text := "see " + secret + " there"
			all := form.pattern.FindAllStringSubmatchIndex(text, -1)
			if got := form.find(text); !reflect.DeepEqual(got, all) {
				t.Errorf("form %d in %q: %v, not %v", i, text, got, all)
			}
			found += len(all)
		}
		if found == 0 {
			t.Errorf("form %d: no secret here has it", i)
		}
	}
}
