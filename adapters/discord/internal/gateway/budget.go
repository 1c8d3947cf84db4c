package gateway

import (
	"context"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/retry"
)

// The budget of identifies. Discord allows 1,000 a day over all shards. At the limit it ends every session and resets
// the token.
const (
	identifyDay   = 24 * time.Hour
	identifyTotal = 1000 // in a day, if Discord names no other number
	identifyShare = 2    // gatehouse uses at most the total divided by this
	// the last total/IdentifySpare are never used, whichever program used the others
	IdentifySpare = 10
	// between two with the same rate limit key: Discord's five seconds and a margin
	IdentifySlot = 5500 * time.Millisecond
	maxWait      = 5 * time.Minute // between two checks of an exhausted budget
)

// RefusesToken asks Discord, by the most common of its calls, whether it refuses the token. It does not if it can't be
// asked.
func (g *Gateway) RefusesToken(ctx context.Context) bool {
	return core.CategoryOf(g.REST.Get(ctx, discordgo.EndpointUser("@me"), nil)) == core.Unauthorized
}

// ask asks Discord for the gateway's address and the remaining budget until it answers. failed receives each error. The
// returned error is permanent: a token that is refused several times in a row, whatever is asked.
func (g *Gateway) ask(ctx context.Context, failed func(error)) (discordgo.GatewayBotResponse, error) {
	log := retry.NewLog(g.Log, "asking Discord for its gateway")
	wait, refusals := outbound.FirstRetry, 0
	for ctx.Err() == nil {
		var info discordgo.GatewayBotResponse
		err := g.REST.Get(ctx, discordgo.EndpointGatewayBot, &info)
		// the other route names no budget; gatehouse's own count still applies
		if rest.IsGone(err) || core.CategoryOf(err) == core.DeliveryInDoubt {
			err = g.REST.Get(ctx, discordgo.EndpointGateway, &info)
		}
		if err == nil && info.URL == "" {
			err = core.Errorf(core.DeliveryLater, "The server at DISCORD_API_URL returned no gateway address.")
		}
		if ctx.Err() != nil {
			break
		}
		log.Report(err)
		if limit := info.SessionStartLimit; err == nil && limit.Total > 0 {
			g.sessionsLeft.Store(int64(limit.Remaining))
		}
		atLeast := core.RetryAfterOf(err)
		if core.CategoryOf(err) == core.Unauthorized {
			refusals, atLeast = refusals+1, RefusedWait
		} else {
			refusals = 0
		}
		if err == nil || refusals >= maxRefusals && g.RefusesToken(ctx) {
			return info, err
		}
		if refusals > 0 {
			err = core.Wrap(core.DeliveryLater, err, "Discord refuses the token. It is asked again, and in another "+
				"way, before that counts.")
		}
		failed(err)
		g.Sleep(ctx, max(g.jitter(wait), atLeast))
		wait = min(2*wait, outbound.MaxRetry)
	}
	return discordgo.GatewayBotResponse{}, nil
}

// mayIdentify waits until this shard may identify, and returns the address for it. It counts one identify; if the
// gateway then can't be reached, the next attempt uses that one. The budget is in the store, shared by all processes of
// the bot, and corrected by Discord's own numbers.
func (s *shard) mayIdentify(ctx context.Context) (address string, err error) {
	for ctx.Err() == nil {
		info, err := s.ask(ctx, s.unheard)
		if err != nil || ctx.Err() != nil {
			return "", err
		}
		wait, err := s.countIdentify(ctx, info.SessionStartLimit)
		switch {
		case ctx.Err() != nil:
			return "", nil
		case err != nil:
			s.unheard(core.Wrap(core.StoreBusy, err, "The budget of identifies could not be read from the store."))
			wait = outbound.FirstRetry
		case wait == 0:
			return info.URL, nil
		case wait > IdentifySlot:
			e := core.Errorf(core.DeliveryLater,
				"The bot has begun too many sessions with Discord today and waits, so that Discord does not reset "+
					"its token. "+
					"It begins the next one in %s. Find out what ends its sessions: restarts in a loop, or another "+
					"program with the same token.", wait.Round(time.Second))
			s.Log.Warn(e.Error(), "shard", s.n)
			s.unheard(e)
		}
		s.Sleep(ctx, min(wait, maxWait))
	}
	return "", nil
}

// countIdentify counts one identify. If it would be too many or too early, it counts none and returns how long to wait.
func (s *shard) countIdentify(ctx context.Context, limit discordgo.SessionInformation) (time.Duration, error) {
	total := limit.Total
	if total <= 0 {
		total = identifyTotal
	} else if limit.Remaining <= total/IdentifySpare {
		return max(time.Duration(limit.ResetAfter)*time.Millisecond, 2*IdentifySlot), nil
	}
	key := s.n % max(limit.MaxConcurrency, 1)
	wait, err := s.KV.TakeToken(ctx, "discord/identify/slot/"+strconv.Itoa(key), 1, IdentifySlot)
	if err != nil || wait > 0 || s.paid {
		return wait, err
	}
	wait, err = s.KV.TakeToken(ctx, "discord/identify", max(total/identifyShare, 1), identifyDay)
	s.paid = err == nil && wait == 0
	return wait, err
}
