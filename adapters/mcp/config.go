package mcp

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/strictjson"
)

// Config is what an mcp.json says.
type Config struct {
	Servers  []Server
	Warnings []string // what is ignored or was changed in it
	Text     string   // of the file, by which a change is noticed; "" if there is none
}

// Server is one entry of mcpServers: a process that speaks on its standard input and output, or an endpoint of
// streamable HTTP.
type Server struct {
	Name string // in the names of its tools: letters, digits, _ and -

	Command string // of a process
	Args    []string
	Env     map[string]string
	Dir     string

	URL     string // of an endpoint
	Headers map[string]string
	OAuth   *OAuth // how gatehouse logs in to it; nil: not said

	Timeout  time.Duration // how long one call may take; 0: a minute
	ReadOnly []string      // the admin's word that tools only read: globs of their names, or NAME@DIGEST
	Filter   Filter        // which tools are offered

	// names of variables and headers, and parts of the URL, that are hidden or shown although the guess is another
	Secret, Public []string

	expanded []expansion // the variables in all that
}

// maxConfig is the largest mcp.json.
const maxConfig = 1 << 20

// Load reads an mcp.json; "" is one without servers. lookup gives variables for ${VAR}, as os.LookupEnv does. The
// error, of category invalid, names every fault, one a line.
func Load(path string, lookup func(string) (string, bool)) (Config, error) {
	if path == "" {
		return Config{}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return Config{}, core.Wrap(core.Invalid, err, "can't read the file: %v", err)
	}
	if info.Size() > maxConfig {
		return Config{},
			core.Errorf(core.Invalid, "%s has %d bytes; an mcp.json may have %d", path, info.Size(), maxConfig)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Config{}, core.Wrap(core.Invalid, err, "can't read the file: %v", err)
	}
	cfg, faults := Parse(text, lookup)
	if len(faults) > 0 {
		for i, fault := range faults {
			faults[i] = path + ": " + fault
		}
		return Config{}, core.Errorf(core.Invalid, "%s", strings.Join(faults, "\n"))
	}
	cfg.Text = string(text)
	return cfg, nil
}

// Parse reads the text of an mcp.json, with or without a byte order mark. Each fault begins with its line and names the
// server, and says what to do.
func Parse(text []byte, lookup func(string) (string, bool)) (cfg Config, faults []string) {
	root, err := strictjson.Parse(core.WithoutBOM(text))
	if err != nil {
		return Config{}, []string{err.Error()}
	}
	list := root.Get("mcpServers")
	switch {
	case list == nil && root.Get("servers") != nil:
		return Config{}, []string{`line 1: there is no "mcpServers"; rename "servers" to "mcpServers"`}
	case list == nil || list.Kind != strictjson.Object:
		return Config{},
			[]string{`line 1: there is no object "mcpServers"; write {"mcpServers": {"NAME": {"command": "…"}}}`}
	}
	r := reader{getenv: lookup}
	for _, m := range root.Members {
		if m.Key != "mcpServers" {
			r.warn(m.Line, "", "%q is ignored", m.Key)
		}
	}
	for _, m := range list.Members {
		if server, on := r.server(m); on {
			cfg.Servers = append(cfg.Servers, server)
		}
	}
	cfg.Warnings = r.warnings
	return cfg, r.faults
}

// reader reads the servers and collects what is wrong with them.
type reader struct {
	getenv   func(string) (string, bool)
	names    []string // the servers' so far
	faults   []string
	warnings []string
}

func (r *reader) fault(line int, server, format string, args ...any) {
	r.faults = append(r.faults, about(line, server)+fmt.Sprintf(format, args...))
}

func (r *reader) warn(line int, server, format string, args ...any) {
	r.warnings = append(r.warnings, about(line, server)+fmt.Sprintf(format, args...))
}

func about(line int, server string) string {
	if server == "" {
		return fmt.Sprintf("line %d: ", line)
	}
	return fmt.Sprintf("line %d: server %q: ", line, server)
}

// server reads one entry; on is false if it is disabled or can't be used.
func (r *reader) server(m strictjson.Member) (s Server, on bool) {
	entry := m.Value
	if entry.Kind != strictjson.Object {
		r.fault(m.Line, m.Key, `must be an object; write {"command": "…"} or {"url": "https://…"}`)
		return s, false
	}
	if off := entry.Get("disabled"); off != nil && off.Bool {
		return s, false
	}
	s.Name = toolName(m.Key)
	switch {
	case s.Name == "":
		r.fault(m.Line, m.Key, "the name has no letter or digit; give the server another one")
	case slices.Contains(r.names, s.Name):
		r.fault(m.Line, m.Key, "another server is called %s, too, in the names of its tools; give it another name",
			s.Name)
	case s.Name != m.Key:
		r.warn(m.Line, m.Key, "its tools are called %s.…, because names of tools hold letters, digits, _ and - only",
			s.Name)
	}
	r.names = append(r.names, s.Name)
	f := fields{reader: r, server: m.Key, line: m.Line, before: len(r.faults)}
	for _, field := range entry.Members {
		f.read(&s, field)
	}
	s.expanded = f.expanded
	f.check(s)
	return s, true
}
