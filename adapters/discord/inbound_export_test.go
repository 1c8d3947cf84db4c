package discord

import (
	"context"
	"time"

	"gatehouse/core"
)

// Sleeping has the platform's waits done by the test.
func (d *Discord) Sleeping(sleep func(context.Context, time.Duration)) { d.sleep = sleep }

// Call calls Discord's REST API as the platform does.
func (d *Discord) Call(ctx context.Context, method, path string, body, answer any) error {
	return d.call(ctx, method, path, body, answer)
}

// Take takes an event of the gateway as a connection does, once.
func (d *Discord) Take(ctx context.Context, kind string, data []byte, accept core.Accept) {
	s := &shard{discord: d, accept: accept, of: 1, keep: newKeeper(d, 0)}
	s.once(ctx, item{kind: kind, data: data})
}

// Become has the platform know who it is, without asking.
func (d *Discord) Become(user string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.self = identity{User: user, Name: "gatehouse", App: user, Listed: true, Reads: true}
}

// Numbers that tests need.
const (
	ShardLease = shardLease
	SaveEvery  = saveEvery
	RankLasts  = rankLasts
	Slot       = identifySlot
)

// Readable is what a person wrote, without names.
func Readable(text string) string {
	return readable(text, func(byte, string) string { return "" })
}

// PartingOf explains a close code.
func (d *Discord) PartingOf(code int) (fatal error, anew bool) {
	p := d.partingOf(code)
	return p.fatal, p.anew
}
