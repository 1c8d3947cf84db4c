package gateway

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/core"
)

// Numbers of the identifies: Discord allows 1,000 in a day over all shards, and at the limit ends every session and resets the token.
const (
	identifyDay   = 24 * time.Hour
	identifyTotal = 1000                    // in a day, where Discord tells no other number
	identifyShare = 2                       // one part in so many of them is for gatehouse
	IdentifySpare = 10                      // one part in so many is never used, whoever used the others
	IdentifySlot  = 5500 * time.Millisecond // between two of one rate limit key: Discord's five seconds and some
	maxWait       = 5 * time.Minute         // between two looks whether there are some again
)

// ask asks where the gateway is and what is left of the budget, until Discord tells; failed hears why it does not. Error: going on is
// useless.
func (g *Gateway) ask(ctx context.Context, failed func(error)) (discordgo.GatewayBotResponse, error) {
	log := core.NewErrorLog(g.Log, "asking Discord for its gateway")
	retry := firstRetry
	for ctx.Err() == nil {
		var told discordgo.GatewayBotResponse
		err := g.REST.Call(ctx, http.MethodGet, discordgo.EndpointGatewayBot, nil, &told)
		if rest.IsGone(err) || core.CategoryOf(err) == core.DeliveryInDoubt { // the other route tells no budget: gatehouse's own is counted all the same
			err = g.REST.Call(ctx, http.MethodGet, discordgo.EndpointGateway, nil, &told)
		}
		if err == nil && told.URL == "" {
			err = core.Errorf(core.DeliveryLater, "What answers at DISCORD_API_URL names no gateway.")
		}
		if ctx.Err() != nil {
			break
		}
		log.Report(err)
		if err == nil || core.CategoryOf(err) == core.Unauthorized {
			return told, err
		}
		if failed != nil {
			failed(err)
		}
		g.Sleep(ctx, max(g.jitter(retry), core.RetryAfterOf(err)))
		retry = min(2*retry, maxRetry)
	}
	return discordgo.GatewayBotResponse{}, nil
}

// mayIdentify waits until this shard may identify, and gives the address to do it at. It counts one identify; where the gateway can't be
// reached for it, it is good for the next attempt. The budget is kept in the store, so all processes of the bot share it, and corrected by
// what Discord tells.
func (s *shard) mayIdentify(ctx context.Context) (address string, err error) {
	blocked := func(err error) { s.setHealth(shardState{why: err}) }
	for ctx.Err() == nil {
		told, err := s.ask(ctx, blocked)
		if err != nil || ctx.Err() != nil {
			return "", err
		}
		wait, err := s.countIdentify(ctx, told.SessionStartLimit)
		switch {
		case ctx.Err() != nil:
			return "", nil
		case err != nil:
			blocked(core.Wrap(core.StoreBusy, err, "The store can't say whether the bot may identify at Discord."))
			wait = firstRetry
		case wait == 0:
			return told.URL, nil
		case wait > IdentifySlot:
			e := core.Errorf(core.DeliveryLater, "The bot has begun too many sessions with Discord today and waits, so that Discord does not reset its token. "+
				"It begins the next one in %s. Find out what ends its sessions: restarts in a loop, or another program with the same token.", wait.Round(time.Second))
			s.Log.Warn(e.Error(), "shard", s.n)
			blocked(e)
		}
		s.Sleep(ctx, min(wait, maxWait))
	}
	return "", nil
}

// countIdentify counts one identify, unless it would be too many or too early; then it gives how long to wait.
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
