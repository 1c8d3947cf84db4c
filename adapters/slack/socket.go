package slack

import (
	"context"
	"time"

	"github.com/slack-go/slack/socketmode"

	"gatehouse/adapters/internal/inbound"
	connection "gatehouse/adapters/slack/internal/socketmode"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// socket is the platform as a Socket Mode connection sees it.
type socket struct {
	*Slack
	*slots
	accept core.Accept
}

var _ connection.App = socket{}

// OpenSocket asks Slack for the address of a Socket Mode connection.
func (s socket) OpenSocket(ctx context.Context) (address string, err error) {
	_, address, err = s.api.StartSocketModeContext(ctx)
	return address, webapi.SocketError(err)
}

// RefusesToken asks Slack in another way whether it refuses the app's token.
func (s socket) RefusesToken(ctx context.Context) bool {
	return webapi.RefusesApp(ctx, s.Config.api(), s.clock, s.http)
}

// Receive handles the payload of an envelope, which is the same as the body of a request over HTTP. ack is false if it
// could not be stored.
func (s socket) Receive(ctx context.Context, kind string, payload []byte) (reply any, ack bool) {
	receive := map[string]receiver{
		socketmode.RequestTypeEventsAPI: s.receiveEvent, socketmode.RequestTypeInteractive: s.receiveInteraction,
		socketmode.RequestTypeSlashCommands: s.receiveCommand,
	}[kind]
	if receive == nil {
		s.Log.Debug("an envelope of an unknown kind is ignored", "kind", kind)
		return nil, true
	}
	reply, result := receive(ctx, payload, s.accept)
	return reply, result != inbound.NotStored
}

// SocketUp logs that a connection is open after none was.
func (s socket) SocketUp(away time.Duration) {
	if s.announced.Load() {
		s.Log.Info("connected to Slack again over Socket Mode", "away", away.Round(time.Millisecond))
	}
	s.announce()
}

func (s socket) Sleep(ctx context.Context, wait time.Duration) { s.sleep(ctx, wait) }

func (s socket) Jitter(wait time.Duration) time.Duration { return s.jitter(wait) }
