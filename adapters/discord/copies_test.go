package discord

import (
	"reflect"
	"testing"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/core"
)

func cardIn(channel string, conversation core.ConversationID, approvers ...string) core.Delivery {
	return core.Delivery{
		Post: core.Post{
			Key: "card/1", Kind: core.PostCard, Approval: "ap-1", Conversation: conversation,
			To: core.Address{Platform: address.Platform, Channel: channel}, Event: 7,
		},
		Card: rigSamples.Card(func(c *core.Card) { c.Approvers = approvers }),
	}
}

// toldNotHere is a card whose rule notifies not here: elsewhere, or by direct messages.
func toldNotHere(d core.Delivery, elsewhere bool) core.Delivery {
	d.Quiet, d.Card.Direct = true, !elsewhere
	return d
}

func TestCopiesGoToApproversWhoDoNotSeeTheCard(t *testing.T) {
	w := newRig(t, nil)
	dm := w.DMWith("1001")
	for name, c := range map[string]struct {
		d       core.Delivery
		refused bool
		want    []string // whose direct messages
	}{
		"all see the channel": {cardIn(general, "discord:"+serverID+":"+general, "discord:1002",
			"discord:role:"+approvers), false, nil},
		"one is not in the server": {cardIn(general, "discord:"+serverID+":"+general, "discord:1002",
			"discord:1003", "discord:1003", "slack:U1"), false, []string{"1003"}},
		"one does not see the channel": {cardIn(secret, "discord:"+serverID+":"+secret, "discord:1001",
			"discord:1002"), false, []string{"1001"}},
		"it stands in a direct message": {cardIn(dm, core.ConversationID("discord:@me:"+dm), "discord:1001",
			"discord:1002"), false, []string{"1002"}},
		"only a role, in a DM": {cardIn(dm, core.ConversationID("discord:@me:"+dm),
			"discord:role:"+approvers), false, []string{"unseen"}},
		"a role, told directly": {toldNotHere(
			cardIn(general, "discord:"+serverID+":"+general, "discord:role:"+approvers), false), false,
			[]string{"unseen here"}},
		"people, told directly": {toldNotHere(cardIn(general, "discord:"+serverID+":"+general, "discord:1002"),
			false), false, []string{"1002"}},
		"people, told elsewhere": {toldNotHere(cardIn(general, "discord:"+serverID+":"+general, "discord:1003"),
			true), false, nil},
		"it was refused": {
			cardIn(general, "discord:"+serverID+":"+general, "discord:1002"), true, []string{"1002", "requester"},
		},
		"it was refused, to nobody else": {
			cardIn(general, "discord:"+serverID+":"+general, "discord:role:"+approvers), true, []string{"requester"},
		},
		"one is nobody": {cardIn(general, "discord:"+serverID+":"+general, "discord:4004"), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			copies, err := w.d.CardCopies(w.ctx(), c.d, c.refused)
			posts := copies.Posts
			if err != nil || len(posts) != len(c.want) {
				t.Fatalf("%+v, %v", posts, err)
			}
			again, err := w.d.CardCopies(w.ctx(), c.d, c.refused)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range posts {
				key, to, kind := "card/1/discord:"+c.want[i], "", core.PostCard
				switch c.want[i] {
				case "requester", "unseen":
					key, to, kind = "card/1/"+c.want[i], dm, core.PostNotice
				case "unseen here":
					key, to, kind = "card/1/unseen", general, core.PostNotice
				default:
					to = w.DMWith(c.want[i])
				}
				if p.Key != key || p.To.Channel != to || p.Kind != kind || p.Copy != (kind == core.PostCard) ||
					!reflect.DeepEqual(again.Posts[i], p) || p.Conversation != c.d.Conversation {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// Owners and administrators of a server see every channel, whatever its overwrites deny. A role may be removed later.
func TestOwnersAndAdministratorsGetNoCopies(t *testing.T) {
	w := newRig(t, nil)
	w.AddGuild(
		discordtest.Guild{
			ID: serverID, Name: "town", Owner: "1001", Members: []string{"1001", "1002", "1003"},
			Roles: []discordtest.Role{
				{ID: approvers, Name: "approvers"},
				{
					ID: "4000000000000000002", Name: "admins", Permissions: discordtest.Administrator,
					Members: []string{"1002"},
				},
			},
		})
	d := cardIn(secret, "discord:"+serverID+":"+secret, "discord:1001", "discord:1002", "discord:1003")
	copies := func() string {
		copies, err := w.d.CardCopies(w.ctx(), d, false)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, p := range copies.Posts {
			text += p.Key + " "
		}
		return text
	}
	if got := copies(); got != "card/1/discord:1003 " {
		t.Errorf("copies: %q", got)
	}
	calls := len(w.Calls())
	if got := copies(); got != "card/1/discord:1003 " || len(w.Calls()) != calls {
		t.Errorf("asked again it makes %d calls: %q", len(w.Calls())-calls, got)
	}
	w.AddGuild(
		discordtest.Guild{
			ID: serverID, Name: "town", Owner: "1001", Members: []string{"1001", "1002", "1003"},
			Roles: []discordtest.Role{{ID: approvers, Name: "approvers"}},
		})
	w.clock.Advance(guilds.Fresh)
	if got := copies(); got != "card/1/discord:1002 card/1/discord:1003 " {
		t.Errorf("without the role: %q", got)
	}
}

func TestCopiesAreRetriedIfVisibilityIsUnknown(t *testing.T) {
	w := newRig(t, nil)
	w.Inject(discordtest.Fault{Trouble: discordtest.ServerError(503), Times: 1})
	if _, err := w.d.CardCopies(w.ctx(), cardIn(general, "discord:"+serverID+":"+general, "discord:1002"),
		false); core.CategoryOf(err) != core.DeliveryInDoubt {
		t.Errorf("%v", err)
	}
}
