package discord

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"gatehouse/core"
)

// Numbers of the identifications: Discord allows 1,000 in a day over all shards, and at the limit ends every session and resets the
// token.
const (
	identifyDay    = 24 * time.Hour
	identifyTotal  = 1000                    // in a day, where Discord does not tell another number
	identifyShare  = 2                       // one part in so many of them is ours to spend
	identifySpare  = 10                      // one part in so many is never touched, whoever spent the others
	identifySlot   = 5500 * time.Millisecond // between two of one key: Discord's five seconds and some
	maxBudgetSleep = 5 * time.Minute         // between two looks whether there is some again
)

// gateway is what GET /gateway/bot tells.
type gateway struct {
	URL    string `json:"url"`
	Shards int    `json:"shards"`
	Limit  struct {
		Total      int   `json:"total"`
		Remaining  int   `json:"remaining"`
		ResetAfter int64 `json:"reset_after"` // milliseconds
		AtOnce     int   `json:"max_concurrency"`
	} `json:"session_start_limit"`
}

// askGateway asks where the gateway is and what is left of the budget, until Discord tells; met hears of what is in the way. Its
// error: going on is useless.
func (d *Discord) askGateway(ctx context.Context, met func(error)) (gateway, error) {
	trouble := core.NewErrorLog(d.Log, "asking Discord for its gateway")
	retry := firstRedial
	for ctx.Err() == nil {
		var g gateway
		err := d.call(ctx, http.MethodGet, "/gateway/bot", nil, &g)
		if isGone(err) || core.CategoryOf(err) == core.DeliveryInDoubt { // the other route tells no budget: ours is counted all the same
			err = d.call(ctx, http.MethodGet, "/gateway", nil, &g)
		}
		if err == nil && g.URL == "" {
			err = core.Errorf(core.DeliveryLater, "What answers at DISCORD_API_URL names no gateway.")
		}
		if ctx.Err() != nil {
			break
		}
		trouble.Report(err)
		if err == nil {
			return g, nil
		}
		if core.CategoryOf(err) == core.ProviderAuthentication {
			return gateway{}, err
		}
		if met != nil {
			met(err)
		}
		d.sleep(ctx, max(d.jitter(retry), core.RetryAfterOf(err)))
		retry = min(2*retry, maxRedial)
	}
	return gateway{}, nil
}

// leave waits until this shard may identify, and gives the address to do it at. The leave is counted: whoever has it identifies
// once, and where the gateway could not be reached for it, it is good for the next try. The budget is kept in the store, so all processes of the bot share it, and corrected by what Discord tells.
func (s *shard) leave(ctx context.Context) (address string, err error) {
	d := s.discord
	deaf := func(err error) { d.ears.set(s.n, hearing{why: err}) }
	for ctx.Err() == nil {
		g, err := d.askGateway(ctx, deaf)
		if err != nil || ctx.Err() != nil {
			return "", err
		}
		pause, err := s.spend(ctx, g)
		switch {
		case ctx.Err() != nil:
			return "", nil
		case err != nil:
			deaf(core.Wrap(core.StoreBusy, err, "The store can't say whether the bot may identify at Discord."))
			pause = firstRedial
		case pause == 0:
			return g.URL, nil
		case pause > identifySlot:
			e := core.Errorf(core.DeliveryLater, "The bot has begun too many sessions with Discord today and waits, lest Discord reset its token. "+
				"The next one is begun in %s. Find out what ends its sessions: restarts in a loop, or another program with the same token.", pause.Round(time.Second))
			d.Log.Warn(e.Error(), "shard", s.n)
			deaf(e)
		}
		d.sleep(ctx, min(pause, maxBudgetSleep))
	}
	return "", nil
}

// spend counts one identification, unless it would be too many or too early; then it gives how long to wait.
func (s *shard) spend(ctx context.Context, g gateway) (time.Duration, error) {
	total := g.Limit.Total
	if total <= 0 {
		total = identifyTotal
	} else if g.Limit.Remaining <= total/identifySpare {
		return max(time.Duration(g.Limit.ResetAfter)*time.Millisecond, 2*identifySlot), nil
	}
	key := s.n % max(g.Limit.AtOnce, 1)
	pause, err := s.discord.Settings.TakeToken(ctx, "discord/identify/slot/"+strconv.Itoa(key), 1, identifySlot)
	if err != nil || pause > 0 || s.paid {
		return pause, err
	}
	pause, err = s.discord.Settings.TakeToken(ctx, "discord/identify", max(total/identifyShare, 1), identifyDay)
	s.paid = err == nil && pause == 0
	return pause, err
}
