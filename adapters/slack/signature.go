package slack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"gatehouse/adapters/internal/chat"
)

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
