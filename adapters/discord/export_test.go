package discord

import (
	"context"
	"time"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/core"
)

// SetSleep has the platform's waits done by the test.
func (d *Discord) SetSleep(sleep func(context.Context, time.Duration)) { d.sleep = sleep }

// Call calls Discord's REST API as the platform does.
func (d *Discord) Call(ctx context.Context, method, path string, body, answer any) error {
	return d.rest.Call(ctx, method, path, body, answer)
}

// Take takes an event of the gateway as a connection does, once.
func (d *Discord) Take(ctx context.Context, event string, data []byte, accept core.Accept) {
	d.accept = accept
	d.takeEvent(ctx, event, data)
}

// SetIdentity has the platform know who it is, without asking.
func (d *Discord) SetIdentity(user string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.self = identity{User: user, App: user, Listed: true, Reads: true}
}

// Numbers that tests need.
const (
	ShardLease = gateway.MaxLease
	Slot       = gateway.IdentifySlot
)

// Readable is what a person wrote, without names.
func Readable(text string) string {
	return readable(text, func(byte, string) string { return "" })
}
