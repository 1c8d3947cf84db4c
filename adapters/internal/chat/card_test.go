package chat_test

import (
	"testing"

	"gatehouse/adapters/internal/chat"
)

func TestPeopleOfOtherPlatforms(t *testing.T) {
	for id, want := range map[string]string{
		"slack:U1": "somebody on Slack", "slack:S1": "a group on Slack", "discord:role:1": "a role on Discord", "openharness:ann.B-2": "ann.B-2 on the web",
		"openharness:local": "somebody at gatehouse's own machine", "openharness:*ann*": "somebody on the web", "openharness:": "somebody on the web", "openharness": "", "teams:1": "", "": "",
	} {
		if got := chat.Elsewhere(id); got != want {
			t.Errorf("%s is %q, want %q", id, got, want)
		}
	}
}
