package slack

import (
	"context"

	"github.com/slack-go/slack/socketmode"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// openSocket asks Slack for the address of a Socket Mode connection.
func (s *Slack) openSocket(ctx context.Context) (address string, err error) {
	_, address, err = s.api.StartSocketModeContext(ctx)
	return address, webapi.SocketError(err)
}

// receiveSocket handles the payload of an envelope, which is the same as the body of a request over HTTP. ack is false if Slack must send
// the envelope again.
func (s *Slack) receiveSocket(ctx context.Context, kind string, payload []byte, accept core.Accept) (reply any, ack bool) {
	var result chat.Result
	switch kind {
	case socketmode.RequestTypeEventsAPI:
		reply, result = s.receiveEvent(ctx, payload, accept)
	case socketmode.RequestTypeInteractive:
		reply, result = s.receiveInteraction(ctx, payload, accept)
	case socketmode.RequestTypeSlashCommands:
		reply, result = s.receiveCommand(ctx, payload, accept)
	default:
		s.Log.Debug("an envelope of an unknown kind is ignored", "kind", kind)
	}
	return reply, result != chat.NotStored
}
