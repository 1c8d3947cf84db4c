package discord

import (
	"strconv"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

func cardIn(channel string, conversation core.ConversationID, approvers ...string) core.Delivery {
	return core.Delivery{
		Post: core.Post{Key: "card/1", Kind: core.PostCard, Approval: "ap-1", Conversation: conversation, To: core.Address{Platform: Name, Channel: channel}, Event: 7},
		Card: testCard(func(c *core.Card) { c.Approvers = approvers }),
	}
}

func TestCopiesGoToApproversWhoDoNotSeeTheCard(t *testing.T) {
	w := newTown(t, nil)
	dm := w.DMWith("1001")
	for name, c := range map[string]struct {
		d       core.Delivery
		refused bool
		want    []string // whose direct messages
	}{
		"all see the channel":            {cardIn(general, "discord:"+townID+":"+general, "discord:1002", "discord:role:"+approvers), false, nil},
		"one is not in the server":       {cardIn(general, "discord:"+townID+":"+general, "discord:1002", "discord:1003", "discord:1003", "slack:U1"), false, []string{"1003"}},
		"one does not see the channel":   {cardIn(secret, "discord:"+townID+":"+secret, "discord:1001", "discord:1002"), false, []string{"1001"}},
		"it stands in a direct message":  {cardIn(dm, core.ConversationID("discord:@me:"+dm), "discord:1001", "discord:1002"), false, []string{"1002"}},
		"it was refused":                 {cardIn(general, "discord:"+townID+":"+general, "discord:1002"), true, []string{"1002", "requester"}},
		"it was refused, to nobody else": {cardIn(general, "discord:"+townID+":"+general, "discord:role:"+approvers), true, []string{"requester"}},
		"one is nobody":                  {cardIn(general, "discord:"+townID+":"+general, "discord:4004"), false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			posts, err := w.d.CardCopies(w.ctx(), c.d, c.refused)
			if err != nil || len(posts) != len(c.want) {
				t.Fatalf("%+v, %v", posts, err)
			}
			again, err := w.d.CardCopies(w.ctx(), c.d, c.refused)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range posts {
				key, to, kind := "card/1/discord:"+c.want[i], "", core.PostCard
				if c.want[i] == "requester" {
					key, to, kind = "card/1/requester", w.DMWith("1001"), core.PostNotice
				} else {
					to = w.DMWith(c.want[i])
				}
				if p.Key != key || p.To.Channel != to || p.Kind != kind || p.Copy != (kind == core.PostCard) || again[i] != p || p.Conversation != c.d.Conversation {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

// Who owns a server and who administrates it see every channel, whatever is denied there; a role may be taken away.
func TestOwnersAndAdministratorsGetNoCopies(t *testing.T) {
	w := newTown(t, nil)
	w.AddGuild(discordtest.Guild{ID: townID, Name: "town", Owner: "1001", Members: []string{"1001", "1002", "1003"}, Roles: []discordtest.Role{
		{ID: approvers, Name: "approvers"}, {ID: "4000000000000000002", Name: "admins", Permissions: discordtest.Administrator, Members: []string{"1002"}},
	}})
	d := cardIn(secret, "discord:"+townID+":"+secret, "discord:1001", "discord:1002", "discord:1003")
	copies := func() string {
		posts, err := w.d.CardCopies(w.ctx(), d, false)
		if err != nil {
			t.Fatal(err)
		}
		text := ""
		for _, p := range posts {
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
	w.AddGuild(discordtest.Guild{ID: townID, Name: "town", Owner: "1001", Members: []string{"1001", "1002", "1003"}, Roles: []discordtest.Role{{ID: approvers, Name: "approvers"}}})
	w.clock.Advance(sightLasts)
	if got := copies(); got != "card/1/discord:1002 card/1/discord:1003 " {
		t.Errorf("without the role: %q", got)
	}
}

func TestWhatIsRememberedIsBounded(t *testing.T) {
	var r recalled[int]
	now, asked := time.Unix(1_800_000_000, 0), 0
	ask := func() (int, error) { asked++; return asked, nil }
	for i := range 2*sightsKept + 1 {
		_, _ = r.of(now, time.Minute, strconv.Itoa(i), ask)
	}
	if len(r.kept) > sightsKept || asked != 2*sightsKept+1 {
		t.Errorf("%d are kept of %d", len(r.kept), asked)
	}
	later := core.Errorf(core.DeliveryLater, "not now")
	if _, err := r.of(now, time.Minute, "x", func() (int, error) { return 0, later }); core.CategoryOf(err) != core.DeliveryLater {
		t.Errorf("%v", err)
	}
	if _, err := r.of(now, time.Minute, "x", ask); err != nil {
		t.Errorf("that it could not be told is remembered: %v", err)
	}
}

func TestWhoSeesACardCanNotBeToldNow(t *testing.T) {
	w := newTown(t, nil)
	w.Inject(discordtest.Fault{Trouble: discordtest.ServerError(503), Times: 1})
	if _, err := w.d.CardCopies(w.ctx(), cardIn(general, "discord:"+townID+":"+general, "discord:1002"), false); core.CategoryOf(err) != core.DeliveryInDoubt {
		t.Errorf("%v", err)
	}
}

func TestWhatRolesAndExceptionsAllow(t *testing.T) {
	const view, send = 1 << bitView, 1 << bitSend
	ranks := []rank{{ID: "1", Powers: view | send}, {ID: "2", Powers: 0}, {ID: "3", Powers: 1 << bitAdministrator}}
	for name, c := range map[string]struct {
		has        []string
		exceptions []overwrite
		want       bool // sees it
	}{
		"everyone":                       {nil, nil, true},
		"denied to everyone":             {nil, []overwrite{{ID: "1", Deny: view}}, false},
		"allowed to a role":              {[]string{"2"}, []overwrite{{ID: "1", Deny: view}, {ID: "2", Allow: view}}, true},
		"allowed to another role":        {nil, []overwrite{{ID: "1", Deny: view}, {ID: "2", Allow: view}}, false},
		"denied to the member":           {[]string{"2"}, []overwrite{{ID: "2", Allow: view}, {ID: "9", Type: ofMember, Deny: view}}, false},
		"who administrates sees all":     {[]string{"3"}, []overwrite{{ID: "9", Type: ofMember, Deny: view}}, true},
		"allowed beats denied, of roles": {[]string{"2", "3x"}, []overwrite{{ID: "3x", Deny: view}, {ID: "2", Allow: view}}, true},
	} {
		if got := powersIn("1", "9", c.has, ranks, c.exceptions).may(bitView); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
