package slack_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// A post is sent again after a refusal that an admin of the workspace can fix, and only then.
func TestRefusalsThatAnAdminCanFixAreTemporary(t *testing.T) {
	for word, want := range map[string]struct {
		category core.Category
		says     string
	}{
		"not_in_channel":                          {core.DeliveryForbidden, "Invite it"},
		"restricted_action":                       {core.DeliveryForbidden, "settings"},
		"missing_scope":                           {core.DeliveryForbidden, "scope"},
		"token_revoked":                           {core.DeliveryLater, "SLACK_BOT_TOKEN"},
		"channel_not_found":                       {core.DeliveryForbidden, "/invite"},
		"is_archived":                             {core.DeliveryForbidden, "unarchive"},
		"external_channel_migrating":              {core.DeliveryForbidden, "by itself"},
		"accesslimited":                           {core.DeliveryForbidden, "An admin of the workspace"},
		"messages_tab_disabled":                   {core.DeliveryForbidden, "Messages Tab"},
		"cannot_reply_to_message":                 {core.DeliveryFailed, "refuses"},
		"slack_connect_file_link_sharing_blocked": {core.ContentRefused, "without such links"},
	} {
		t.Run(word, func(t *testing.T) {
			p, o := open(t, slacktest.Options{}, nil)
			o.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.Refused(word)})
			_, _, err := p.Post(t.Context(),
				core.Delivery{Post: core.Post{
					Key: "reply/1", Kind: core.PostReply, Text: "x", To: core.Address{Platform: "slack", Channel: "C1"},
				}})
			if core.CategoryOf(err) != want.category || !strings.Contains(core.MessageOf(err), want.says) {
				t.Errorf("%v", err)
			}
		})
	}
}
