package login

import (
	"context"
	"net/http"
	"time"
)

// RoundTrip sends a request to the server, with its token. A message that the server refuses for want of a login was
// not acted on: it is sent again once the login is renewed; if it can't be, or that does not help, the error is Needed.
func (s *Source) RoundTrip(base http.RoundTripper, req *http.Request) (*http.Response, error) {
	if s == nil {
		return base.RoundTrip(req)
	}
	r, err := s.current(req.Context())
	if err != nil {
		return nil, err
	}
	resp, err := s.send(base, req, r)
	if err != nil {
		return nil, err
	}
	if again := s.repeated(req.Context(), req, resp, r); again != nil {
		drain(resp)
		r.Forced = time.Now()
		if r, err = s.renew(req.Context(), r); err != nil {
			return nil, err
		}
		if resp, err = s.send(base, again, r); err != nil {
			return nil, err
		}
	}
	if resp.StatusCode < http.StatusBadRequest {
		s.works(r.Token.AccessToken)
	}
	if req.Method != http.MethodPost { // a stream of events, which a server need not have
		return resp, nil
	}
	if why := s.why(resp, r); why != "" {
		drain(resp)
		return nil, Needed{s.server.Name, why}
	}
	return resp, nil
}

// send sends a request with a token, to the server's URL alone.
func (s *Source) send(base http.RoundTripper, req *http.Request, r Record) (*http.Response, error) {
	if token := r.Token.AccessToken; token != "" && originOf(req.URL.String()) == s.origin {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	return base.RoundTrip(req)
}

// forcedWait is how long a token that came of a refusal, and is refused itself, is not renewed, by any process.
const forcedWait = 10 * time.Minute

// repeated gives the request to send once more after a refusal; nil: there is no use in it.
func (s *Source) repeated(ctx context.Context, req *http.Request, resp *http.Response, r Record) *http.Request {
	if resp.StatusCode != http.StatusUnauthorized || r.Token.RefreshToken == "" {
		return nil
	}
	s.mu.Lock()
	worked := s.worked == r.Token.AccessToken
	s.mu.Unlock()
	if !worked && time.Since(r.Forced).Abs() < forcedWait {
		return nil
	}
	again := req.Clone(ctx)
	if req.Body == nil {
		return again
	}
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	again.Body = body
	return again
}

func (s *Source) works(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worked = token
}

// why says why the server wants another login; "" if it does not.
func (s *Source) why(resp *http.Response, r Record) string {
	wants := challenge(resp)
	said := detail(wants["error"], wants["error_description"])
	switch {
	case resp.StatusCode == http.StatusForbidden && wants["error"] == "insufficient_scope":
		return "its login has too few scopes" + said + `; add what is missing to "scopes" of "oauth" in its entry`
	case resp.StatusCode != http.StatusUnauthorized:
		return ""
	case r.Token.AccessToken != "":
		return "it refuses the login that gatehouse has" + said
	case wants != nil || s.server.Known || len(s.server.Headers) == 0:
		// without a header of the entry that it could have refused
		return "it wants a login" + said
	}
	return ""
}
