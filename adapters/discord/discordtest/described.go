package discordtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest/internal/description"
)

// DescriptionKey is the environment variable with the path of Discord's own description of its API. Without it the
// description is looked for beside the repository.
const DescriptionKey = description.PathKey

// Described reports whether the fake compares calls with Discord's own description: in tests, if there is one.
func Described() bool {
	d, err := description.Load()
	return d != nil || err != nil
}

// Deviations returns where requests, or the fake's own answers, differ from Discord's own description. A request that
// the fake itself refuses is not compared: a test may send it on purpose.
func (s *Server) Deviations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.deviations)
}

// described returns Discord's description of a call; ok is false if nothing is compared.
func (s *Server) described(method, path string) (o description.Operation, ok bool) {
	if !testing.Testing() {
		return o, false
	}
	d, err := description.Load()
	if err != nil {
		s.deviates("%v", err)
	}
	if d == nil {
		return o, false
	}
	if o, ok = d.Operation(method, path); !ok {
		s.deviates("%s %s is not described", method, path)
	}
	return o, ok
}

// compare compares a call with the description. answer is nil if the fake did not answer it by itself.
func (s *Server) compare(r *http.Request, sent parts, status int, answer []byte) {
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/api/"), "/")
	o, ok := s.described(r.Method, "/"+path)
	if !ok {
		return
	}
	if answer == nil || status < http.StatusBadRequest {
		err := o.Request(sent.text)
		if sent.named != nil {
			err = errors.Join(err, o.Form(sent.text, sent.named))
		}
		if err := errors.Join(err, o.Query(r.URL.Query())); err != nil {
			s.deviates("a request differs from Discord's description: %s %s %s: %v", r.Method, r.URL.RequestURI(),
				sent.text, err)
		}
	}
	if answer == nil {
		return
	}
	if err := o.Answer(status, answer); err != nil {
		s.deviates("an answer of the fake differs from Discord's description: %s %s %d %s: %v", r.Method, r.URL.Path,
			status, answer, err)
	}
}

// compareResponse compares an app's answer to an interaction over HTTP, which has the form of a call.
func (s *Server) compareResponse(answer []byte) {
	o, ok := s.described(http.MethodPost, "/interactions/1/token/callback")
	if !ok {
		return
	}
	if err := o.Request(answer); err != nil {
		s.deviates("an answer to an interaction differs from Discord's description: %s: %v", answer, err)
	}
}

// maxDeviations is how many deviations are kept: most repeat the first.
const maxDeviations = 10

func (s *Server) deviates(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.deviations) < maxDeviations {
		s.deviations = append(s.deviations, fmt.Sprintf(format, args...))
	}
}
