package discord

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"gatehouse/core"
)

// Numbers of what comes over HTTP.
const (
	maxBody         = 1 << 20         // bytes; far above what Discord sends
	signatureWindow = 5 * time.Minute // how far a request's time may be off: an older one may be a replay
)

// pathInteractions is where Discord posts presses and commands to.
const pathInteractions = "/discord/interactions"

// Routes are the paths that Discord posts to, where a public key is set. Each request is answered after its commit: 200; 400 where it
// can't be read or is of an unknown kind, 401 where its signature or time is wrong (Discord itself tries that before it takes the
// address), 403 where it is for another application, 413 where it is too large, 415 where it is no JSON. Discord sends nothing again:
// where it could not be stored the person is told.
func (d *Discord) Routes(accept core.Accept) map[string]http.Handler {
	key, err := hex.DecodeString(d.Config.PublicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil
	}
	return map[string]http.Handler{
		"POST " + pathInteractions: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.serve(w, r, key, accept) }),
	}
}

func (d *Discord) serve(w http.ResponseWriter, r *http.Request, key ed25519.PublicKey, accept core.Accept) {
	refuse := func(status int, why string) {
		d.Log.Warn("a request is refused", "path", r.URL.Path, "status", status, "why", why)
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
	if why := d.unsigned(r.Header, body, key); why != "" {
		refuse(http.StatusUnauthorized, why)
		return
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		refuse(http.StatusUnsupportedMediaType, "the body is not said to be JSON")
		return
	}
	answer, v := d.takeInteraction(r.Context(), body, accept)
	switch v {
	case foreign:
		http.Error(w, "this gatehouse serves another application", http.StatusForbidden)
		return
	case broken:
		http.Error(w, "the body is not of the form it should have", http.StatusBadRequest) // it was logged
		return
	case unstored:
		answer = private("It could not be stored, so nothing was done. Try once more.")
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // Discord has gone: nothing to tell
}

// unsigned says what is wrong with a request's signature; "" where nothing is (Ed25519 over time and raw body).
func (d *Discord) unsigned(h http.Header, body []byte, key ed25519.PublicKey) string {
	stamp := h.Get("X-Signature-Timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return "the request has no time"
	}
	signature, err := hex.DecodeString(h.Get("X-Signature-Ed25519"))
	if err != nil || len(signature) != ed25519.SignatureSize || !ed25519.Verify(key, append([]byte(stamp), body...), signature) {
		return "the signature is wrong"
	}
	if off := d.Now().Sub(time.Unix(seconds, 0)); off > signatureWindow || off < -signatureWindow {
		return "the request is too old, or the clock of one side is wrong"
	}
	return ""
}
