package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"gatehouse/core"
)

// Numbers of what comes over HTTP.
const (
	maxBody         = 4 << 20         // bytes; far above what Slack sends
	signatureWindow = 5 * time.Minute // how far a request's time may be off: an older one may be a replay
)

// The paths that Slack posts to.
const (
	pathEvents       = "/slack/events"
	pathInteractions = "/slack/interactions"
	pathCommands     = "/slack/commands"
)

// Routes are the paths that Slack posts to, where a signing secret is set. Each request is answered after its commit: 200; 400 where
// it can't be read, 401 where its signature or time is wrong, 403 of another workspace, 413 where it is too large, 503 where it could
// not be stored, so that Slack sends it again.
func (s *Slack) Routes(accept core.Accept) map[string]http.Handler {
	if s.Config.SigningSecret == "" {
		return nil
	}
	route := func(kind string, payload func([]byte) ([]byte, error)) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, kind, payload, accept) })
	}
	return map[string]http.Handler{
		"POST " + pathEvents:       route(kindEvents, func(body []byte) ([]byte, error) { return body, nil }),
		"POST " + pathInteractions: route(kindInteractive, formPayload),
		"POST " + pathCommands:     route(kindCommand, formFields),
	}
}

func (s *Slack) serve(w http.ResponseWriter, r *http.Request, kind string, payload func([]byte) ([]byte, error), accept core.Accept) {
	refuse := func(status int, why string) {
		s.Log.Warn("a request is refused", "path", r.URL.Path, "status", status, "why", why)
		http.Error(w, why, status)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(http.StatusRequestEntityTooLarge, "the body is too large")
		return
	case err != nil:
		refuse(http.StatusBadRequest, "the body did not arrive whole")
		return
	}
	if why := s.unsigned(r.Header, body); why != "" {
		refuse(http.StatusUnauthorized, why)
		return
	}
	if body, err = payload(body); err != nil {
		refuse(http.StatusBadRequest, "the body is not of the form it should have")
		return
	}
	if kind == kindEvents && s.challenged(w, body) {
		return
	}
	reply, v := s.take(r.Context(), kind, body, accept)
	switch v {
	case foreign:
		http.Error(w, "this app serves another workspace", http.StatusForbidden)
	case broken:
		http.Error(w, "the body is not of the form it should have", http.StatusBadRequest)
	case unstored:
		http.Error(w, "it could not be stored; send it again", http.StatusServiceUnavailable)
	default:
		acknowledge(w, reply)
	}
}

func acknowledge(w http.ResponseWriter, reply answer) {
	if reply == nil {
		return // an empty 200
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(reply) // Slack has gone: nothing to tell
}

// unsigned says what is wrong with a request's signature; "" where nothing is (v0: HMAC-SHA256 over version, time and raw body).
func (s *Slack) unsigned(h http.Header, body []byte) string {
	stamp := h.Get("X-Slack-Request-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return "the request has no time"
	}
	mac := hmac.New(sha256.New, []byte(s.Config.SigningSecret))
	mac.Write([]byte("v0:" + stamp + ":"))
	mac.Write(body)
	if !hmac.Equal([]byte(h.Get("X-Slack-Signature")), []byte("v0="+hex.EncodeToString(mac.Sum(nil)))) {
		return "the signature is wrong"
	}
	if off := s.Now().Sub(time.Unix(seconds, 0)); off > signatureWindow || off < -signatureWindow {
		return "the request is too old, or the clock of one side is wrong"
	}
	return ""
}

// challenged answers Slack's question whether the address is ours.
func (s *Slack) challenged(w http.ResponseWriter, body []byte) bool {
	var e envelope
	if json.Unmarshal(body, &e) != nil || e.Type != "url_verification" {
		return false
	}
	acknowledge(w, answer{"challenge": e.Challenge})
	return true
}

// formPayload takes the JSON out of a form.
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

// formFields makes a form's fields JSON, as Socket Mode has them.
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
