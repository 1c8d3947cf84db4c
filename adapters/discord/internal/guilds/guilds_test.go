package guilds

import (
	"strconv"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

func TestCacheIsBounded(t *testing.T) {
	now, asked, size := time.Unix(1_800_000_000, 0), 0, 0
	r := newAnswers[int](maxOthers, func() time.Time { return now })
	ask := func() (int, error) { asked++; return asked, nil }
	for i := range 2*maxOthers + 1 {
		_, _ = r.within(time.Minute, strconv.Itoa(i), ask)
	}
	r.Find(func(answer[int]) bool { size++; return false })
	if size > maxOthers || asked != 2*maxOthers+1 {
		t.Errorf("%d are kept of %d", size, asked)
	}
	later := core.Errorf(core.DeliveryLater, "not now")
	if _, err := r.within(time.Minute, "x", func() (int, error) {
		return 0, later
	}); core.CategoryOf(err) != core.DeliveryLater {
		t.Errorf("%v", err)
	}
	if _, err := r.within(time.Minute, "x", ask); err != nil {
		t.Errorf("that it could not be told is remembered: %v", err)
	}
}

func TestPermissionsOfRolesAndOverwrites(t *testing.T) {
	const view, send = discordgo.PermissionViewChannel, discordgo.PermissionSendMessages
	roles := []Role{
		{ID: "1", Permissions: view | send}, {ID: "2"}, {ID: "3", Permissions: discordgo.PermissionAdministrator},
	}
	for name, c := range map[string]struct {
		has        []string
		overwrites []*discordgo.PermissionOverwrite
		want       bool // sees it
	}{
		"everyone":           {nil, nil, true},
		"denied to everyone": {nil, []*discordgo.PermissionOverwrite{{ID: "1", Deny: view}}, false},
		"allowed to a role": {
			[]string{"2"}, []*discordgo.PermissionOverwrite{{ID: "1", Deny: view}, {ID: "2", Allow: view}}, true,
		},
		"allowed to another role": {
			nil, []*discordgo.PermissionOverwrite{{ID: "1", Deny: view}, {ID: "2", Allow: view}}, false,
		},
		"denied to the member": {
			[]string{"2"},
			[]*discordgo.PermissionOverwrite{
				{ID: "2", Allow: view}, {ID: "9", Type: discordgo.PermissionOverwriteTypeMember, Deny: view},
			}, false,
		},
		"who administrates sees all": {
			[]string{"3"},
			[]*discordgo.PermissionOverwrite{{ID: "9", Type: discordgo.PermissionOverwriteTypeMember, Deny: view}},
			true,
		},
		"allowed beats denied, of roles": {
			[]string{"2", "3x"}, []*discordgo.PermissionOverwrite{{ID: "3x", Deny: view}, {ID: "2", Allow: view}}, true,
		},
	} {
		if got := In("1", "9", c.has, roles, c.overwrites).Has(view); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
