package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/slack-go/slack/socketmode"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// maxBody is the size limit of a request in bytes, far above what Slack sends.
const maxBody = 4 << 20

// The paths that Slack posts to.
const (
	pathEvents       = "/slack/events"
	pathInteractions = "/slack/interactions"
	pathCommands     = "/slack/commands"
)

// receiver handles a body up to the commit of its event. The reply is sent with the acknowledgement; nil: none.
type receiver func(ctx context.Context, body []byte, accept core.Accept) (reply any, result chat.Result)

// Routes returns the paths that Slack posts to; none without a signing secret. Each request is answered after its commit: 200 if it is
// stored, 400 if it can't be read, 401 if its signature or time is wrong, 403 if it is from another workspace, 413 if it is too large, and
// 503 if it could not be stored, so that Slack sends it again.
func (s *Slack) Routes(accept core.Accept) map[string]http.Handler {
	if s.Config.SigningSecret == "" {
		return nil
	}
	route := func(receive receiver, decode func([]byte) ([]byte, error)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, receive, decode, accept) })
	}
	return map[string]http.Handler{
		"POST " + pathEvents:       route(s.receiveEvent, func(body []byte) ([]byte, error) { return body, nil }),
		"POST " + pathInteractions: route(s.receiveInteraction, formPayload),
		"POST " + pathCommands:     route(s.receiveCommand, formFields),
	}
}

func (s *Slack) serve(w http.ResponseWriter, r *http.Request, receive receiver, decode func([]byte) ([]byte, error), accept core.Accept) {
	body, status, why := chat.ReadSigned(w, r, maxBody, s.checkSignature)
	if status == 0 {
		var err error
		if body, err = decode(body); err != nil {
			status, why = http.StatusBadRequest, "the form can't be read"
		}
	}
	if status != 0 {
		s.Log.Warn("a request is refused", "path", r.URL.Path, "status", status, "why", why)
		http.Error(w, why, status)
		return
	}
	reply, result := receive(r.Context(), body, accept)
	switch result {
	case chat.Foreign:
		http.Error(w, "this app serves another workspace", http.StatusForbidden)
	case chat.Malformed:
		http.Error(w, "the body can't be read", http.StatusBadRequest)
	case chat.NotStored:
		http.Error(w, "the event could not be stored; send it again", http.StatusServiceUnavailable)
	case chat.Stored:
		if reply == nil {
			return // an empty 200
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply) // an error means that Slack has closed the connection
	}
}

// formPayload extracts the JSON from a form.
func formPayload(body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	payload := form.Get("payload")
	if payload == "" {
		return nil, errors.New("no payload")
	}
	return []byte(payload), nil
}

// formFields converts a form's fields to JSON, which is how Socket Mode sends them.
func formFields(body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for key := range form {
		fields[key] = form.Get(key)
	}
	return json.Marshal(fields)
}

// checkSignature returns what is wrong with a request's signature, "" if nothing is. Version v0 is the HMAC-SHA256 of version, time and
// raw body. slack-go's SecretsVerifier does the same, but only with the machine's clock, so the edges of its window can't be tested.
func (s *Slack) checkSignature(h http.Header, body []byte) string {
	timestamp := h.Get("X-Slack-Request-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return "the request has no timestamp"
	}
	mac := hmac.New(sha256.New, []byte(s.Config.SigningSecret))
	mac.Write([]byte("v0:" + timestamp + ":"))
	mac.Write(body)
	if !hmac.Equal([]byte(h.Get("X-Slack-Signature")), []byte("v0="+hex.EncodeToString(mac.Sum(nil)))) {
		return "the signature is wrong"
	}
	if off := s.Now().Sub(time.Unix(seconds, 0)).Abs(); off > chat.SignatureWindow {
		return "the request is too old, or one of the two clocks is wrong"
	}
	return ""
}

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
