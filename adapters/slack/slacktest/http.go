package slacktest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Sign returns the v0 signature of a body, which is the value of X-Slack-Signature.
func Sign(secret string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte("v0:" + strconv.FormatInt(at.Unix(), 10) + ":"))
	_, _ = mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// tryHTTP posts a payload to the app once; again reports whether Slack would send it again.
func (s *Server) tryHTTP(d *Delivery, url string, retry int, reason string) (a Attempt, again bool) {
	a = Attempt{Retry: retry, Reason: reason}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.ctx.Done():
		a.Err = "server closed"
		return a, false
	}
	ctx, stop := context.WithTimeout(s.ctx, s.o.AckWithin)
	defer stop()
	a.At = s.o.Now()
	began := time.Now()
	response, err := s.request(ctx, d, url, retry, reason)
	if err == nil {
		a.Status = response.StatusCode
		a.Answer, err = io.ReadAll(io.LimitReader(response.Body, maxBody))
		_ = response.Body.Close()
	}
	a.Took = time.Since(began)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		a.Err, a.Status = "timeout", 0
		return a, true
	case err != nil:
		a.Err = err.Error()
		return a, true
	}
	a.Acked = a.Status >= 200 && a.Status < 300
	return a, response.Header.Get("X-Slack-No-Retry") != "1"
}

func (s *Server) request(
	ctx context.Context, d *Delivery, url string, retry int, reason string,
) (*http.Response, error) {
	body, kind := d.body, "application/json"
	if d.form != nil {
		body, kind = d.form, "application/x-www-form-urlencoded"
	}
	kind = cmp.Or(d.how.contentType, kind)
	secret, at := cmp.Or(d.how.secret, s.o.SigningSecret), s.o.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", kind)
	r.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	r.Header.Set("X-Slack-Signature", Sign(secret, at, body))
	r.Header.Set("X-Slack-Request-Timestamp", strconv.FormatInt(at.Unix(), 10))
	if retry > 0 {
		r.Header.Set("X-Slack-Retry-Num", strconv.Itoa(retry))
		r.Header.Set("X-Slack-Retry-Reason", reason)
	}
	return s.out.Do(r)
}
