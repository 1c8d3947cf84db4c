package mcp

import (
	"errors"
	"net/url"
	"strings"

	"gatehouse/core/mask"
)

// withoutURL replaces an endpoint's whole URL by its host, in errors.
func withoutURL(raw string) *strings.Replacer {
	if raw == "" {
		return strings.NewReplacer()
	}
	u, err := url.Parse(raw)
	if err != nil {
		return strings.NewReplacer(raw, mask.Mark)
	}
	pairs := []string{raw, u.Host, u.String(), u.Host, u.Redacted(), u.Host}
	if u.RawQuery != "" {
		pairs = append(pairs, u.RequestURI(), u.Host)
	}
	return strings.NewReplacer(pairs...)
}

// hideError gives the text of an error for people: without the endpoint's URL, which net/http puts into its errors, and
// without secrets.
func (s *server) hideError(err error) string {
	text := err.Error()
	for at := err; ; {
		var failed *url.Error
		if !errors.As(at, &failed) {
			break
		}
		text = strings.ReplaceAll(text, failed.Error(), failed.Op+": "+failed.Err.Error())
		at = failed.Err
	}
	return s.hideReason(text)
}

// hideReason removes the endpoint's URL and secrets from a text that says why something failed.
func (s *server) hideReason(text string) string { return s.Hide(s.endpoint.Replace(text)) }
