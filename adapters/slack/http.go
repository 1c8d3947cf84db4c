package slack

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/webhook"
	"gatehouse/core"
)

// The paths that Slack posts to.
const (
	pathEvents       = "/slack/events"
	pathInteractions = "/slack/interactions"
	pathCommands     = "/slack/commands"
)

// receiver handles a body up to the commit of its event. The reply is sent with the acknowledgement; nil: none.
type receiver func(ctx context.Context, body []byte, accept core.Accept) (reply any, result inbound.Result)

// Routes returns the paths that Slack posts to; none without a signing secret. Each request is answered after its
// commit: 200 if it is stored, 400 if it can't be read, 403 if it is from another workspace, and 503 if it could not be
// stored. Then Slack sends an event again; an interaction or a command it does not, so the person is told
// (interactions.go). A request that is not verified is refused as adapters/internal/webhook describes, unless it is a
// check of the certificate.
func (s *Slack) Routes(accept core.Accept) map[string]http.Handler {
	if s.Config.SigningSecret == "" {
		return nil
	}
	options := webhook.Options{
		Signature: headerSignature, Time: headerTime, Verifier: verifier{s.Config.SigningSecret},
		Clock: s.clock, Now: s.Now, Log: s.Log,
	}
	repeated := webhook.NewReader(options)
	options.Once = true
	sentOnce := webhook.NewReader(options)
	routes := map[string]http.Handler{}
	route := func(
		path, kind string, requests *webhook.Reader, receive receiver, decode func([]byte) ([]byte, error),
	) {
		routes["GET "+path] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !unsignedCheck(w, r) {
				w.Header().Set("Allow", http.MethodPost)
				http.Error(w, "only POST is accepted", http.StatusMethodNotAllowed)
			}
		})
		routes["POST "+path] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if unsignedCheck(w, r) {
				return // an empty 200
			}
			body, ok := requests.Read(w, r, kind)
			if !ok || kind == form && isCheck(string(body)) {
				return
			}
			body, err := decode(body)
			if err != nil {
				const why, status = "the form can't be read", http.StatusBadRequest
				s.Log.Warn("a request is refused", "path", path, "status", status, "why", why)
				http.Error(w, why, status)
				return
			}
			s.serve(w, r, body, receive, accept)
		})
	}
	same := func(body []byte) ([]byte, error) { return body, nil }
	route(pathEvents, "application/json", repeated, s.receiveEvent, same)
	route(pathInteractions, form, sentOnce, s.receiveInteraction, formPayload)
	route(pathCommands, form, sentOnce, s.receiveCommand, formFields)
	return routes
}

// form is the content type of a form.
const form = "application/x-www-form-urlencoded"

// Limits of an unsigned check.
const (
	maxCheck  = 1 << 10     // bytes of its form
	checkTime = time.Second // for its form to arrive; no longer than the body of a refused request
)

// unsignedCheck reports whether a request is Slack's check of the certificate: a GET or POST with ssl_check=1, now and
// then, and not necessarily signed. It is answered 200, and nothing else is done.
func unsignedCheck(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet {
		return isCheck(r.URL.RawQuery)
	}
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != form || r.Header.Get(headerSignature) != "" || r.ContentLength <= 0 || r.ContentLength > maxCheck {
		return false
	}
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(checkTime)) // fails only where there is no connection, as in a test
	body, err := io.ReadAll(r.Body)
	_ = connection.SetReadDeadline(time.Time{})
	return err == nil && isCheck(string(body))
}

func isCheck(form string) bool {
	fields, err := url.ParseQuery(form)
	return err == nil && fields.Get("ssl_check") == "1"
}

func (s *Slack) serve(w http.ResponseWriter, r *http.Request, body []byte, receive receiver, accept core.Accept) {
	ctx, cancel := webhook.Lasting(r)
	defer cancel()
	reply, result := receive(ctx, body, accept)
	switch result {
	case inbound.Foreign:
		http.Error(w, "this app serves another workspace", http.StatusForbidden)
	case inbound.Malformed:
		http.Error(w, "the body can't be read", http.StatusBadRequest)
	case inbound.NotStored:
		http.Error(w, "it could not be stored", http.StatusServiceUnavailable)
	case inbound.Stored:
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
	if len(form["payload"]) != 1 {
		return nil, errors.New("there is not one payload")
	}
	return []byte(form.Get("payload")), nil
}

// formFields converts a form's fields to JSON, which is how Socket Mode sends them.
func formFields(body []byte) ([]byte, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	for key, values := range form {
		fields[key] = values // of a field that is given twice a list, which inbound.Decode refuses
		if len(values) == 1 {
			fields[key] = values[0]
		}
	}
	return json.Marshal(fields)
}

// The headers of a signed request.
const (
	headerSignature = "X-Slack-Signature"
	headerTime      = "X-Slack-Request-Timestamp"
)

// verifier knows the signatures of the app with this signing secret.
type verifier struct{ secret string }

// Valid reports whether a request's signature is right. Version v0 is the HMAC-SHA256 of version, time and raw body.
// slack-go's SecretsVerifier does the same, but only with the machine's clock, so the edges of its window can't be
// tested.
func (v verifier) Valid(h http.Header, body []byte) bool {
	mac := hmac.New(sha256.New, []byte(v.secret))
	mac.Write([]byte("v0:" + h.Get(headerTime) + ":"))
	mac.Write(body)
	return hmac.Equal([]byte(h.Get(headerSignature)), []byte("v0="+hex.EncodeToString(mac.Sum(nil))))
}
