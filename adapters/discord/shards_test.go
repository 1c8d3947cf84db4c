package discord_test

import (
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

func TestShards(t *testing.T) {
	r := newInbound(t, setup{config: func(c *discord.Config) {
		c.Shards = 3
	}, fake: discordtest.Options{MaxConcurrency: 3}}).known()
	seen := map[[2]int]bool{}
	for _, i := range r.Identifies() {
		seen[i.Shard] = true
	}
	if len(seen) != 3 || !seen[[2]int{2, 3}] {
		t.Errorf("it identified as %+v", r.Identifies())
	}
	r.of(r.ann.Says("hello"))
	r.of(r.ann.Posts(general, r.MentionOfBot()+" hello"))
}

// Discord accepts one identify per key in five seconds, and ends the session of a second one.
func TestIdentifiesOfOneKeyAreSpaced(t *testing.T) {
	for name, c := range map[string]struct{ shards, keys int }{
		"two keys": {4, 2}, "one key": {3, 1}, "keys enough": {2, 16},
	} {
		t.Run(name, func(t *testing.T) {
			clock := discordtest.NewClock(time.Now())
			r := newInbound(t, setup{
				fake:   discordtest.Options{Now: clock.Now, IdentifyEvery: 5 * time.Second, MaxConcurrency: c.keys},
				config: func(config *discord.Config) { config.Shards = c.shards },
				before: func(r *inbound) { r.kv.apart = true },
			})
			waits := 0
			for open := min(c.keys, c.shards); ; open = min(open+c.keys, c.shards) {
				waits += c.shards - open
				r.eventually("the shards that may, and the waits of the others", func() bool {
					return len(r.Open()) == open && r.timers.Count(discord.Slot) == waits
				})
				for _, i := range r.Identifies() {
					if i.Refused != "" {
						t.Fatalf("Discord refused %+v", i)
					}
				}
				if len(r.Identifies()) != open {
					t.Fatalf("%d identified, %d may", len(r.Identifies()), open)
				}
				if open == c.shards {
					break
				}
				clock.Advance(discord.Slot)
				r.timers.Fire(discord.Slot)
			}
			r.known()
		})
	}
}

func TestRecommendedNumberOfShards(t *testing.T) {
	r := newInbound(t, setup{config: func(c *discord.Config) {
		c.Shards = 0
	}, fake: discordtest.Options{MaxConcurrency: 2, Shards: 2}}).known()
	if n := len(r.Identifies()); n != 2 {
		t.Errorf("it identified %d times", n)
	}
}

func TestShardHasOneHolder(t *testing.T) {
	r := newInbound(t, setup{}).known()
	second := r.deps
	second.Owner = "two"
	first := r.p
	p := discord.New(second, r.config)
	other := &inbound{
		Server: r.Server, t: t, ctx: r.ctx, p: p, log: r.log, kv: r.kv, timers: adaptertest.NewTimers(),
		config: r.config, deps: second, inbox: r.inbox,
	}
	other.start()
	defer func() { other.halt() }()
	other.known() // another holds the shard: that is as good as hearing it
	if n := len(r.Open()); n != 1 || r.kv.holder("discord/shard/0") != "one" {
		t.Errorf("%d connections are open", n)
	}
	_ = first
	r.halt()                                                      // lets go at once
	looks := func() { other.timers.Fire(discord.ShardLease / 3) } // in each poll: the pause may not have begun yet
	r.eventually("another holder", func() bool {
		looks()
		return r.kv.holder("discord/shard/0") == "two" && len(r.Open()) == 1
	})
	if n := len(r.Identifies()); n != 1 {
		t.Errorf("the second identified; %d in all", n)
	}
	r.kv.take("discord/shard/0", "three")
	r.eventually("the end of the connection", func() bool { looks(); return len(r.Open()) == 0 })
	r.start() // for the end of the test
}

func TestShardLeaseLength(t *testing.T) {
	for heartbeat, want := range map[time.Duration]time.Duration{
		0: discord.ShardLease, 5 * time.Second: 15 * time.Second, time.Hour: discord.ShardLease,
	} {
		t.Run(heartbeat.String(), func(t *testing.T) {
			clock := discordtest.NewClock(time.Now()) // it stands still
			r := newInbound(t,
				setup{discord: core.Deps{Heartbeat: heartbeat}, fake: discordtest.Options{Now: clock.Now}}).known()
			if left := r.kv.left("discord/shard/0"); left != want {
				t.Errorf("the lease is over in %s, want %s", left, want)
			}
		})
	}
}

func TestUnreachableStoreIsUnhealthy(t *testing.T) {
	r := newInbound(t, setup{before: func(r *inbound) { r.kv.fail(true) }})
	r.eventually("that it says why", func() bool {
		hears, _ := r.p.Health()
		return hears != nil && hears.Error() != ""
	})
	r.kv.fail(false)
	r.known()
}
