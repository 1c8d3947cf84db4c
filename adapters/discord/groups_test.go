package discord_test

import (
	"slices"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

func TestGroups(t *testing.T) {
	s := setup{}
	s.before = func(r *inbound) {
		r.AddRole(guild, discordtest.Role{ID: helpers, Name: "helpers", Members: []string{bobID}})
		r.AddUser(discordtest.User{ID: "1003", Name: "cid"})
	}
	r := newInbound(t, s).known()
	wanted := []string{"discord:role:" + helpers, "discord:role:4040", "slack:S1", "discord:1002", "discord:role:x"}
	ask := func(id string) []string {
		t.Helper()
		got, err := r.p.Groups(r.ctx, core.Actor{ID: id}, wanted)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ask("discord:" + bobID); !slices.Equal(got, wanted[:1]) {
		t.Errorf("bob is in %v", got)
	}
	for _, other := range []string{"discord:" + annID, "discord:1003", "slack:U1", "discord:x", ""} {
		if got := ask(other); len(got) != 0 {
			t.Errorf("%q is in %v", other, got)
		}
	}
	r.bob.Leaves(guild)
	if got := ask("discord:" + bobID); len(got) != 0 {
		t.Errorf("without the role bob is in %v", got)
	}
	r.Inject(
		discordtest.Fault{
			Endpoint: "GET /guilds/{guild}/members/{user}", Trouble: discordtest.ServerError(503), Times: 1,
		})
	got, err := r.p.Groups(r.ctx, core.Actor{ID: "discord:" + bobID}, wanted)
	if got != nil || core.CategoryOf(err) != core.ProviderUnavailable ||
		core.MessageOf(err) != "Discord can't say whether you are in @helpers." {
		t.Errorf("where Discord can't be asked it gave %v, %v", got, err)
	}
}

// A press contains the person's roles, so no call is needed to learn them. They count for that press alone.
func TestGroupsFromAPress(t *testing.T) {
	s := setup{before: func(r *inbound) {
		r.AddRole(guild, discordtest.Role{ID: helpers, Name: "helpers", Members: []string{bobID}})
	}}
	r := newInbound(t, s).known()
	for _, route := range []string{
		"GET /guilds/{guild}/members/{user}", "GET /users/@me/guilds", "GET /guilds/{guild}/roles",
	} {
		r.Inject(discordtest.Fault{Endpoint: route, Trouble: discordtest.ServerError(503)})
	}
	r.bob.Presses(r.button(general, r.sealed("a1", "approve")))
	r.inbox.WaitFor("the vote", func() bool { return len(r.inbox.Order) > 0 })
	wanted := []string{"discord:role:" + helpers}
	pressed := r.inbox.Event(r.inbox.Order[0]).Actor
	if got, err := r.p.Groups(r.ctx, pressed, wanted); err != nil || !slices.Equal(got, wanted) {
		t.Errorf("bob, who pressed, is in %v, %v", got, err)
	}
	bob := core.Actor{ID: "discord:" + bobID}
	if got, err := r.p.Groups(r.ctx, bob, wanted); core.CategoryOf(err) != core.ProviderUnavailable {
		t.Errorf("later bob is in %v, %v", got, err)
	}
}
