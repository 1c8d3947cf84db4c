package gateway

import (
	"gatehouse/adapters/discord/internal/snowflake"
)

// shard is one of the parts that the bot's servers are spread over. Direct messages come over the first.
type shard struct {
	*Gateway
	n, of   int
	bot     string
	session *sessionStore
	dials   int  // failed attempts in a row to reach the session's resume address
	paid    bool // an identify was counted but not made
}

// owns reports whether a server's events come over this shard.
func (s *shard) owns(guild string) bool {
	if guild == Direct {
		return s.n == 0
	}
	return snowflake.Shard(guild, s.of) == s.n
}

func (s *shard) setHealth(state shardState) { s.health.set(s.n, state) }
