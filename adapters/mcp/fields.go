package mcp

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"gatehouse/core/strictjson"
)

// fields reads the fields of one server.
type fields struct {
	*reader
	server string
	line   int
	before int // faults of other servers

	expanded []expansion
	kind     string // of the transport, as type says it; "" = not said
}

// The keys of other clients that would weaken a rule of gatehouse if it obeyed them.
var approvalKeys = []string{"autoApprove", "alwaysAllow", "trust"}

// read reads one field into s. A key of another client is ignored, with a warning.
func (f *fields) read(s *Server, m strictjson.Member) {
	if m.Value.Kind == strictjson.Null {
		return // as if it were not there
	}
	switch m.Key {
	case "disabled":
	case "type", "transport":
		f.transport(m)
	case "command":
		s.Command = f.text(m.Key, m.Value)
	case "cwd":
		s.Dir = f.text(m.Key, m.Value)
	case "url":
		s.URL = f.text(m.Key, m.Value)
	case "args":
		s.Args = f.list(m)
	case "env":
		s.Env = f.texts(m)
	case "headers":
		s.Headers = f.texts(m)
	case "oauth":
		s.OAuth = f.oauth(m)
	case "secret":
		s.Secret = f.list(m)
	case "public":
		s.Public = f.list(m)
	case "timeout":
		d, err := time.ParseDuration(m.Value.String)
		if m.Value.Kind != strictjson.String || err != nil || d <= 0 {
			f.warn(m.Line, f.server,
				`"timeout" is ignored, since clients mean different units by a number; write it with one, such `+
					`as "90s"`)
			return
		}
		s.Timeout = d
	case "readOnly":
		s.ReadOnly = f.patterns(m)
	case "tools":
		s.Filter = f.filter(m)
	default:
		if slices.Contains(approvalKeys, m.Key) {
			f.warn(m.Line, f.server,
				`%q is ignored: GATEHOUSE_APPROVAL_POLICY says which calls need no approval, and "readOnly" `+
					`which tools only read`,
				m.Key)
			return
		}
		f.warn(m.Line, f.server, "%q is ignored", m.Key)
	}
}

// patterns reads a list of patterns of the server's tools.
func (f *fields) patterns(m strictjson.Member) []string {
	all := f.list(m)
	for _, entry := range all {
		glob, _, _ := strings.Cut(entry, "@")
		if _, err := path.Match(glob, ""); err != nil || glob == "" {
			f.fault(m.Line, f.server, `%q in %q is no pattern; write names of its tools, such as "read_*"`, entry,
				m.Key)
		}
	}
	return all
}

// filter reads which tools are offered: an object, or a list of those allowed.
func (f *fields) filter(m strictjson.Member) (some Filter) {
	if m.Value.Kind != strictjson.Object {
		some.Allow, some.Only = f.patterns(m), true
		return some
	}
	for _, part := range m.Value.Members {
		switch part.Key {
		case "allow":
			some.Allow, some.Only = f.patterns(part), true
		case "deny":
			some.Deny = f.patterns(part)
		default:
			f.fault(part.Line, f.server,
				`"tools" has no %q; write {"allow": ["…"], "deny": ["…"]}, or a list of what is allowed`, part.Key)
		}
	}
	return some
}

// transport reads how the server is reached.
func (f *fields) transport(m strictjson.Member) {
	switch m.Value.String {
	case "stdio":
		f.kind = "stdio"
	case "http", "streamable-http", "streamableHttp", "streamable_http":
		f.kind = "http"
	case "sse":
		f.fault(m.Line, f.server,
			`%q "sse" is not supported; use the server's address for streamable HTTP, with "type": "http"`, m.Key)
	default:
		f.fault(m.Line, f.server, `%q must be "stdio" or "http"`, m.Key)
	}
}

// check checks what the fields say together.
func (f *fields) check(s Server) {
	address, err := url.Parse(s.URL)
	switch {
	case s.Command == "" && s.URL == "" && len(f.faults) > f.before: // what is missing has a fault of its own
	case s.Command == "" && s.URL == "":
		f.fault(f.line, f.server, `needs "command", of a server that gatehouse starts, or "url", of one that runs`)
	case s.Command != "" && s.URL != "":
		f.fault(f.line, f.server, `has "command" and "url"; remove one`)
	case f.kind == "stdio" && s.Command == "":
		f.fault(f.line, f.server, `is of type stdio and has no "command"`)
	case f.kind == "http" && s.URL == "":
		f.fault(f.line, f.server, `is of type http and has no "url"`)
	case s.URL != "" && (err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https"):
		f.fault(f.line, f.server, `"url" is not of the form https://HOST/PATH`)
	case s.URL != "" && address.User != nil:
		f.fault(f.line, f.server,
			`"url" holds a user or password; remove it from there and write it into "headers", as "Authorization"`)
	case s.URL != "" && s.OAuth != nil && s.authorizes():
		f.warn(f.line, f.server, `"oauth" is ignored: "headers" have "Authorization"; remove one`)
	case s.Command != "" && s.OAuth != nil:
		f.warn(f.line, f.server, `"oauth" is ignored: it is started by a command; use "env"`)
	case s.Command != "" && len(s.Headers) > 0:
		f.warn(f.line, f.server, `"headers" are ignored: it is started by a command; use "env"`)
	case s.URL != "" && len(s.Args)+len(s.Env)+len(s.Dir) > 0:
		f.warn(f.line, f.server, `"args", "env" and "cwd" are ignored: it is reached by a URL; use "headers"`)
	}
	f.checkSecrets(s)
	for name := range s.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(s.Env[name], "\x00") {
			f.fault(f.line, f.server, "%q can't be a variable of its environment", name)
		}
	}
	for name, value := range s.Headers {
		if !validHeader(name, value) {
			f.fault(f.line, f.server,
				"the header %q can't be sent: its name or value has characters that are not allowed", name)
		}
	}
}

// validHeader reports whether a header can be sent.
func validHeader(name, value string) bool {
	token := func(r rune) bool {
		return r > ' ' && r < 0x7f && !strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !token(r)
	}) && !strings.ContainsAny(value, "\r\n\x00") &&
		!slices.Contains([]string{"Host", "Content-Length", "Mcp-Session-Id"}, http.CanonicalHeaderKey(name))
}
