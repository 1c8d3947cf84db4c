package chat

import (
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// Limits of the connections to a platform.
const (
	CallTimeout = 15 * time.Second // of one call, unless its context ends earlier
	DialTimeout = 5 * time.Second
	idleConns   = 16 // as many as the outbox has posts in flight
)

// Transport returns a transport with a connection pool of its own, so that its connections can be closed together with the platform.
func Transport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: DialTimeout}).DialContext, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: DialTimeout,
	}
}

// SignatureWindow is how far the timestamp of a signed request may be off: an older one may be a replay.
const SignatureWindow = 5 * time.Minute

// ReadSigned reads the body of a request that a platform signs. check returns what is wrong with the signature, "" if nothing is. If the
// request is refused, status is the HTTP status of the answer and why the reason; else status is 0.
func ReadSigned(w http.ResponseWriter, r *http.Request, limit int64, check func(h http.Header, body []byte) string) (body []byte, status int, why string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge, "the body is too large"
	case err != nil:
		return nil, http.StatusBadRequest, "the body did not arrive completely"
	}
	if why := check(r.Header, body); why != "" {
		return nil, http.StatusUnauthorized, why
	}
	return body, 0, ""
}
