package gateway

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"gatehouse/core"
)

// Missed is what a catch-up passed over. It is kept for people who run the checks: nobody reads a log of last week.
type Missed struct {
	At      time.Time `json:"at"`
	Beyond  int       `json:"beyond,omitempty"`   // conversations that were not looked at, because of their number
	Late    []string  `json:"late,omitempty"`     // channels for which there was no time
	TooMany []string  `json:"too_many,omitempty"` // channels with more messages than are fetched
	Refused []string  `json:"refused,omitempty"`  // channels whose messages Discord did not give
}

const (
	missedKept  = 7 * 24 * time.Hour
	missedNamed = 100 // channels of each kind; a value of the store is limited
)

func missedName(shard int) string { return "discord/missed/" + strconv.Itoa(shard) }

// report logs and stores what was passed over.
func (u *catchUp) report(ctx context.Context) {
	for _, c := range u.todo {
		u.missed.Late = append(u.missed.Late, c.Channel)
	}
	if n := len(u.missed.Late); n > 0 {
		u.Log.Warn("it takes too long to fetch the messages sent while no events were received; the rest are not "+
			"fetched", "shard", u.n, "conversations", n)
	}
	if u.missed.Beyond > 0 {
		u.Log.Warn("there are too many conversations; those that were quiet longest are not searched for messages "+
			"sent while no events were received",
			"shard", u.n, "conversations", u.missed.Beyond)
	}
	m := u.missed
	if m.Beyond == 0 && len(m.Late)+len(m.TooMany)+len(m.Refused) == 0 {
		return
	}
	m.At = u.Now()
	for _, named := range []*[]string{&m.Late, &m.TooMany, &m.Refused} {
		*named = (*named)[:min(len(*named), missedNamed)]
	}
	text, err := json.Marshal(m)
	if err == nil {
		err = u.KV.PutFor(ctx, missedName(u.n), string(text), missedKept)
	}
	if err != nil {
		u.Log.Warn("what was not fetched could not be stored, so gatehouse doctor does not show it", "shard", u.n,
			"err", err)
	}
}

// ReadMissed returns what the last catch-up of each shard passed over, for a week.
func ReadMissed(ctx context.Context, kv core.KV) ([]Missed, error) {
	s, err := storedSession(ctx, kv, 0)
	if err != nil {
		return nil, err
	}
	var all []Missed
	for n := range max(s.Shards, 1) {
		text, err := kv.Get(ctx, missedName(n))
		if err != nil {
			return nil, err
		}
		var m Missed
		if text != "" && json.Unmarshal([]byte(text), &m) == nil {
			all = append(all, m)
		}
	}
	return all, nil
}
