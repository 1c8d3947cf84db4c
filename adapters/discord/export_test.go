package discord

import (
	"context"
	"time"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/core"
)

// SetSleep replaces the platform's waits.
func (d *Discord) SetSleep(sleep func(context.Context, time.Duration)) { d.sleep = sleep }

// Call calls Discord's REST API as the platform does.
func (d *Discord) Call(ctx context.Context, method, path string, body, answer any) error {
	return d.rest.Call(ctx, method, path, body, answer)
}

// Take processes a gateway event once, as a connection does.
func (d *Discord) Take(ctx context.Context, event string, data []byte, accept core.Accept) {
	receiver{d, accept}.Take(ctx, event, data)
}

// SetIdentity sets who the bot is, without a call.
func (d *Discord) SetIdentity(user string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.self = identity{User: user, App: user, Listed: true, Reads: true}
}

// Limits that tests refer to.
const (
	ShardLease  = gateway.MaxLease
	Slot        = gateway.IdentifySlot
	RefusedWait = gateway.RefusedWait
)
