package slack_test

import (
	"slices"
	"testing"
	"time"

	"gatehouse/adapters/internal/fakeserver"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// grouped is a workspace with two groups: S1 has Ann, S2 Ann and Bob.
func grouped(t *testing.T, s setup) *running {
	t.Helper()
	before := s.before
	s.before = func(r *running) {
		r.AddGroup(slacktest.Group{ID: "S1", Handle: "admins", Members: []string{"U1ANN"}})
		r.AddGroup(slacktest.Group{ID: "S2", Handle: "ops", Members: []string{"U1ANN", "U2BOB"}})
		if before != nil {
			before(r)
		}
	}
	return start(t, s).known()
}

func TestGroups(t *testing.T) {
	r := grouped(t, setup{})
	for _, c := range []struct {
		who    string
		wanted []string
		want   []string
	}{
		{"slack:U1ANN", []string{"slack:S1"}, []string{"slack:S1"}},
		{"slack:U2BOB", []string{"slack:S1"}, nil},
		{"slack:U1ANN", []string{"slack:S1", "slack:S2"}, []string{"slack:S1", "slack:S2"}},
		{"slack:U2BOB", []string{"slack:S1", "slack:S2"}, []string{"slack:S2"}},
		{"slack:U1ANN", []string{"slack:S9", "slack:S1"}, []string{"slack:S1"}}, // S9 is not known
		{"slack:U1ANN", []string{"slack:U1ANN", "discord:S1", "S1", "slack:", ""}, nil},
		{"discord:U1ANN", []string{"slack:S1"}, nil},
		{"slack:", []string{"slack:S1"}, nil},
		{"slack:U1ANN", nil, nil},
	} {
		got, err := r.p.Groups(r.ctx, core.Actor{ID: c.who}, c.wanted)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s of %v: got %v, %v, want %v", c.who, c.wanted, got, err, c.want)
		}
	}
}

func TestGroupsFailClosed(t *testing.T) {
	ann := core.Actor{ID: "slack:U1ANN"}
	t.Run("no scope", func(t *testing.T) {
		without := slices.DeleteFunc(slices.Clone(slacktest.AllScopes), func(s string) bool {
			return s == "usergroups:read"
		})
		r := grouped(t, setup{fake: slacktest.Options{Scopes: without}})
		for _, wanted := range []string{"slack:S1", "slack:S2", "slack:S1"} {
			if got, err := r.p.Groups(r.ctx, ann, []string{wanted}); err != nil || len(got) != 0 {
				t.Errorf("got %v, %v", got, err)
			}
		}
		if w := r.log.Warnings(); len(w) != 2 {
			t.Errorf("there are %d warnings, want one a group:\n%v", len(w), w)
		}
	})
	for name, trouble := range map[string]slacktest.Trouble{
		"down": slacktest.ServerError(503), "cut": slacktest.Cut(), "busy": slacktest.RateLimited(time.Second),
		"token": slacktest.Refused("token_revoked"), "half": fakeserver.Garbled(),
	} {
		t.Run(name, func(t *testing.T) {
			r := grouped(t, setup{})
			r.Inject(slacktest.Fault{Endpoint: "usergroups.users.list", Trouble: trouble, Times: 1})
			got, err := r.p.Groups(r.ctx, ann, []string{"slack:S1"})
			if err == nil || len(got) != 0 || core.BucketOf(core.CategoryOf(err)) != core.RetryableTransient {
				t.Errorf("got %v, %v", got, err)
			}
			if got, err := r.p.Groups(r.ctx, ann, []string{"slack:S1"}); err != nil || len(got) != 1 {
				t.Errorf("afterwards got %v, %v", got, err)
			}
		})
	}
}

// TestLaw7_WhoDecidesIsAskedForEachTime: a member who was removed does not count a moment later, and where Slack
// can't be asked nothing that it said before takes the place of its answer.
func TestLaw7_WhoDecidesIsAskedForEachTime(t *testing.T) {
	r := grouped(t, setup{})
	ann := core.Actor{ID: "slack:U1ANN"}
	in := func() int {
		got, err := r.p.Groups(r.ctx, ann, []string{"slack:S1"})
		if err != nil {
			t.Fatal(err)
		}
		return len(got)
	}
	if in() != 1 {
		t.Fatal("ann is not in the group")
	}
	r.AddGroup(slacktest.Group{ID: "S1", Handle: "admins"})
	if in() != 0 || r.CountCalls("usergroups.users.list") != 2 {
		t.Error("a removed member still counts")
	}
	r.Inject(slacktest.Fault{Endpoint: "usergroups.users.list", Trouble: slacktest.ServerError(503)})
	const unsure = "Slack can't say whether you are in "
	if got, err := r.p.Groups(r.ctx, ann, []string{"slack:S1"}); core.MessageOf(err) != unsure+"@admins." {
		t.Errorf("while Slack is down it is %v, %v", got, err)
	}
	r.Inject(slacktest.Fault{Endpoint: "usergroups.list", Trouble: slacktest.ServerError(503)})
	if got, err := r.p.Groups(r.ctx, ann, []string{"slack:S2"}); core.MessageOf(err) != unsure+"@ops." {
		t.Errorf("a group's name that is known is asked for again: %v, %v", got, err)
	}
}
