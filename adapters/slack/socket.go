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

// socketHandler handles what comes over Socket Mode. What could not be stored is not acknowledged.
func (s *Slack) socketHandler(accept core.Accept) func(ctx context.Context, kind string, payload []byte) (any, bool) {
	return func(ctx context.Context, kind string, payload []byte) (any, bool) {
		r, result := s.receive(ctx, kind, payload, accept)
		if r == nil { // not a nil response in an interface
			return nil, result != chat.NotStored
		}
		return r, result != chat.NotStored
	}
}

// receive handles the payload of one kind of Socket Mode envelope, which is the same as the body of a request over HTTP.
func (s *Slack) receive(ctx context.Context, kind string, payload []byte, accept core.Accept) (response, chat.Result) {
	switch kind {
	case socketmode.RequestTypeEventsAPI:
		return s.receiveEvent(ctx, payload, accept)
	case socketmode.RequestTypeInteractive:
		return s.receiveInteraction(ctx, payload, accept)
	case socketmode.RequestTypeSlashCommands:
		return s.receiveCommand(ctx, payload, accept)
	}
	s.Log.Debug("an envelope of an unknown kind is ignored", "kind", kind)
	return nil, chat.Stored
}
