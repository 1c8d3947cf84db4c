package discordtest

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"gatehouse/adapters/discord/discordtest/internal/form"
	"gatehouse/adapters/discord/discordtest/internal/wire"
	"gatehouse/adapters/internal/fakeserver"
)

// object is a JSON object.
type object = wire.Object

// route is one route of the REST API.
type route struct {
	open       bool // no bot token is needed
	ungoverned bool // exempt from the global limit
	do         func(*request) (answer, *form.Failure)
}

// answer is the answer to a successful call. A nil body is 204 in most cases.
type answer struct {
	status int
	body   any
}

func ok(body any) (answer, *form.Failure)      { return answer{http.StatusOK, body}, nil }
func created(body any) (answer, *form.Failure) { return answer{http.StatusCreated, body}, nil }
func nothing() (answer, *form.Failure)         { return answer{status: http.StatusNoContent}, nil }

// routes are all routes by method and path, as calls and faults name them.
var routes map[string]route

func init() {
	routes = map[string]route{}
	for _, table := range []map[string]route{
		appRoutes, guildRoutes, channelRoutes, messageRoutes, threadRoutes, commandRoutes,
		interactionRoutes, webhookRoutes,
	} {
		maps.Copy(routes, table)
	}
}

func cutRoute(name string) (method, path string) {
	method, path, _ = strings.Cut(name, " ")
	return method, path
}

// request is one call of the REST API while it is handled; the lock is held.
type request struct {
	s     *Server
	path  map[string]string
	query url.Values
	body  []byte
	parts
}

// parts are the decoded parts of a body.
type parts struct {
	fields object // of the JSON, or of payload_json
	whole  any    // the JSON itself, which may be a list
	files  []Attachment
	// of a form of several parts: the names of its files by those of their parts; nil: it is none
	named map[string]string
	text  []byte // of the JSON
}

var errTooLarge = errors.New("too large")

const maxBody = 25 << 20

// readParts reads a body: JSON, or a form of several parts with JSON and files in it.
func readParts(r *http.Request) (body []byte, p parts, err error) {
	p.fields = object{}
	body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return body, p, err
	}
	if len(body) > maxBody {
		return nil, p, errTooLarge
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	text := body
	if kind == "multipart/form-data" {
		text, p.named = nil, map[string]string{}
		form := multipart.NewReader(strings.NewReader(string(body)), params["boundary"])
		for {
			part, err := form.NextPart()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return body, p, err
			}
			data, err := io.ReadAll(part)
			if err != nil {
				return body, p, err
			}
			switch name := part.FormName(); {
			case name == "payload_json":
				text = data
			case part.FileName() != "":
				p.named[name] = part.FileName()
				p.files = append(p.files,
					Attachment{Name: part.FileName(), ContentType: part.Header.Get("Content-Type"), Data: data})
			}
		}
	}
	p.text = text
	if len(text) > 0 {
		if err := json.Unmarshal(text, &p.whole); err != nil {
			return body, p, err
		}
		if fields, isObject := p.whole.(object); isObject {
			p.fields = fields
		}
	}
	return body, p, nil
}

// serveRoute handles one call: injected faults, then the token, the limits and the route's function. It logs the call.
func (s *Server) serveRoute(name string, rt route) http.HandlerFunc {
	_, pattern := cutRoute(name)
	keys := keysOf(pattern)
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", s.o.Now().UTC().Format(http.TimeFormat)) // by the same clock as the ids
		body, p, readErr := readParts(r)
		params := map[string]string{}
		for _, key := range keys {
			params[key] = r.PathValue(key)
		}
		sent := s.callOf(name, r)
		sent.Params, sent.Body, sent.Fields = params, body, p.fields
		for _, f := range p.files {
			sent.Files = append(sent.Files, f.Name)
		}
		call := fakeserver.Begin(&s.Record, sent)
		if call.Before(w, r) {
			s.described.Compare(r, p.text, p.named, 0, nil)
			return
		}
		q := &request{s: s, path: params, query: r.URL.Query(), body: body, parts: p}
		status, out := s.handle(name, rt, q, r, readErr, w.Header())
		text := textOf(w.Header(), status, out)
		if _, isPage := out.([]byte); !isPage { // of a proxy
			s.described.Compare(r, p.text, p.named, status, text)
		}
		if call.After(w, r) {
			return
		}
		call.Finish(status, codeOf(out))
		w.WriteHeader(status)
		_, _ = w.Write(text)
	}
}

func keysOf(pattern string) []string {
	var keys []string
	for _, step := range strings.Split(pattern, "/") {
		if key, is := strings.CutPrefix(step, "{"); is {
			keys = append(keys, strings.TrimSuffix(key, "}"))
		}
	}
	return keys
}

// handle checks the token and the limits of a call, runs the route's function and returns the answer.
func (s *Server) handle(
	name string, rt route, q *request, r *http.Request, readErr error, header http.Header,
) (int, any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limits.Banned {
		header.Set("Content-Type", "text/html")
		return http.StatusTooManyRequests, []byte("error code: 1015")
	}
	if !rt.open && !s.goodToken(r.Header.Get("Authorization")) {
		s.countInvalid()
		return 401, form.Unauthorized.Body()
	}
	if late := s.limits.Take(name, q.path["channel"]+q.path["guild"]+q.path["token"], !rt.ungoverned,
		header); late != nil {
		s.countInvalid()
		return http.StatusTooManyRequests, late
	}
	if errors.Is(readErr, errTooLarge) {
		return form.TooLarge.Status, form.TooLarge.Body()
	}
	if readErr != nil {
		return form.NotJSON.Status, form.NotJSON.Body()
	}
	a, failed := rt.do(q)
	if failed != nil {
		if failed.Status == 401 || failed.Status == 403 {
			s.countInvalid()
		}
		return failed.Status, failed.Body()
	}
	return a.status, a.body
}

func (s *Server) goodToken(header string) bool {
	token, isBot := strings.CutPrefix(header, "Bot ")
	return isBot && token == s.o.BotToken && !s.revoked
}

// serveUnknown answers a call of an unknown route and logs it.
func (s *Server) serveUnknown(w http.ResponseWriter, r *http.Request) {
	call := s.callOf(r.Method+" "+r.URL.Path, r)
	call.unknown, call.Done, call.Status = true, true, form.NoSuchRoute.Status
	s.mu.Lock()
	fakeserver.Note(&s.Record, call)
	s.mu.Unlock()
	text := textOf(w.Header(), form.NoSuchRoute.Status, form.NoSuchRoute.Body())
	w.WriteHeader(form.NoSuchRoute.Status)
	_, _ = w.Write(text)
}

// textOf returns the body of an answer, and sets its type.
func textOf(header http.Header, status int, out any) []byte {
	if status == http.StatusNoContent || out == nil {
		return []byte{}
	}
	if raw, isRaw := out.([]byte); isRaw {
		return raw
	}
	header.Set("Content-Type", "application/json")
	return fakeserver.JSON(out)
}
