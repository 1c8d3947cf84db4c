package callback

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gatehouse/core"
)

// The headers of the Standard Webhooks specification.
const (
	headerID        = "webhook-id"
	headerTimestamp = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

// sign sets the headers by which the receiver knows the decision: from whom it is, of which attempt, and whether it has
// seen it.
func sign(h http.Header, approval core.ApprovalID, at time.Time, body []byte, keys [][]byte) {
	id, timestamp := messageID(approval), strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + timestamp + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set(headerID, id)
	h.Set(headerTimestamp, timestamp)
	h.Set(headerSignature, strings.Join(signatures, " "))
}

// messageID is the id of the one decision of an approval: the approval's own. A full stop in it is escaped, because it
// separates what is signed, and what can't be in a header.
func messageID(approval core.ApprovalID) string {
	return strings.ReplaceAll(url.QueryEscape(string(approval)), ".", "%2E")
}

// status is a status with its standard name; what the receiver calls it is not repeated.
func status(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}
