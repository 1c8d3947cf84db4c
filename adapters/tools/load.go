package tools

import (
	"cmp"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// Options are what the tools of a file are checked against.
type Options struct {
	Hosts  Hosts
	Taken  []string                         // names of other tools
	Getenv func(name string) (string, bool) // of os.LookupEnv's form
}

// loader reads one file.
type loader struct {
	reader
	Options
	folder string         // of the file: relative paths start there
	names  map[string]int // with their lines
}

// Load reads a file of tools and checks all that can be checked before a tool runs. What the tools get from the environment is read now.
// Errors: Faults.
func Load(path string, o Options) ([]tool.Tool, error) {
	l := &loader{reader: reader{file: path}, Options: o, names: map[string]int{}}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l.folder = folder
	var all []tool.Tool
	if data, ok := l.readFile(path); ok {
		if root := l.parse(data); root != nil {
			all = l.root(l.follow(root))
		}
	}
	if len(l.faults) > 0 {
		return nil, l.faults.sorted()
	}
	return all, nil
}

func (l *loader) root(n *yaml.Node) (all []tool.Tool) {
	version := false
	for _, e := range l.entries(n, "the file of tools", []string{"version", "tools"}) {
		switch e.key {
		case "version":
			if version = true; e.value.Tag != "!!int" || e.value.Value != "1" {
				l.fault(e.value.Line, "write version: 1", "unknown version %s", quoted(e.value.Value))
			}
		case "tools":
			for _, item := range l.list(e.value, "tools", "- name: shop.refund") {
				if t, ok := l.tool(item); ok {
					all = append(all, t)
				}
			}
		}
	}
	if !version && n.Kind == yaml.MappingNode {
		l.fault(n.Line, "add version: 1", "the version is missing")
	}
	return all
}

// spec is a tool as the file describes it. Lines are those of the values, 0 if there is none.
type spec struct {
	tool.Tool
	line     int
	risk     string
	schema   *yaml.Node
	template *yaml.Node
	command  *command
	http     *call
	onlyOf   map[string]int // keys that belong to command alone, with their lines
	declares int            // how many of command and http there are
}

var toolKeys = []string{"name", "description", "risk", "arguments", "summary", "timeout", "max_output", "idempotent", "command", "dir", "env", "http"}

// tool reads one tool; ok is false if it has faults.
func (l *loader) tool(n *yaml.Node) (t tool.Tool, ok bool) {
	before := len(l.faults)
	s := spec{line: n.Line, onlyOf: map[string]int{}, command: &command{dir: l.folder}}
	all := l.entries(n, "a tool", toolKeys)
	for _, e := range all {
		l.value(&s, e)
	}
	if n.Kind != yaml.MappingNode {
		return t, false
	}
	has := func(key string) bool { return slices.ContainsFunc(all, func(e entry) bool { return e.key == key }) }
	for key, example := range map[string]string{
		"name": "name: shop.refund", "description": "description: and one sentence that tells the model what the tool does", "risk": "risk: read, write or destructive",
	} {
		if !has(key) {
			l.fault(n.Line, "add "+example, "the tool has no %s", key)
		}
	}
	if s.declares != 1 {
		l.fault(n.Line, "give it either command: [./refund.sh] or http: {method: POST, url: …}", "the tool has %d of command and http", s.declares)
	}
	if s.http != nil {
		for key, at := range s.onlyOf {
			l.fault(at, "remove it", "%s belongs to tools with a command", key)
		}
	}
	l.arguments(&s)
	if len(l.faults) > before {
		return t, false
	}
	return s.build(), true
}

// value reads one key of a tool.
func (l *loader) value(s *spec, e entry) {
	switch e.key {
	case "name":
		s.Name = l.name(e)
	case "description":
		s.Description = l.text(e.value, "description", "Refunds an order.")
	case "risk":
		s.risk = l.text(e.value, "risk", "write")
		if risks := []string{"read", "write", "destructive"}; s.risk != "" && !slices.Contains(risks, s.risk) {
			l.fault(e.value.Line, meant(s.risk, risks), "unknown risk %s", quoted(s.risk))
		}
	case "arguments":
		s.schema = e.value
	case "summary":
		if l.text(e.value, "summary", "Refund {{amount}} to {{customer}}") != "" {
			s.template = e.value
		}
	case "timeout":
		s.Timeout = l.duration(e.value, "timeout")
	case "max_output":
		s.MaxOutput = l.size(e.value, "max_output")
	case "idempotent":
		s.Idempotent = l.bool(e.value, "idempotent")
	case "command":
		s.declares++
		l.program(s.command, e.value)
	case "dir":
		s.onlyOf["dir"] = e.line
		l.dir(s.command, e.value)
	case "env":
		s.onlyOf["env"] = e.line
		l.environment(s.command, e.value)
	case "http":
		s.declares++
		s.http = l.http(e.value)
	}
}

// name reads a tool's name, which no other tool has.
func (l *loader) name(e entry) string {
	name := l.text(e.value, "name", "shop.refund")
	switch before := l.names[name]; {
	case name == "":
		return ""
	case !tool.ValidName(name):
		l.fault(e.value.Line, "write it as "+tool.NameForm+", such as shop.refund", "the name %s can't be used", quoted(name))
	case before > 0:
		l.fault(e.value.Line, "give each tool a name of its own", "the name %s is that of two tools, in line %d too", quoted(name), before)
	case slices.Contains(l.Taken, name):
		l.fault(e.value.Line, "choose another one", "the name %s is that of a tool of gatehouse's own", quoted(name))
	}
	l.names[name] = e.value.Line
	return name
}

// build makes the tool of a spec without faults.
func (s *spec) build() tool.Tool {
	t := s.Tool
	t.Mutating = s.risk != "read"
	if s.risk == "destructive" {
		t.Risk = core.Dangerous
	}
	template := ""
	if s.template != nil {
		template = s.template.Value
	}
	t.Summarize = summary(t.Name, template)
	most := cmp.Or(t.MaxOutput, tool.DefaultMaxOutput)
	if s.http != nil {
		t.Do = s.http.do(t.Name, most)
	} else {
		t.Do = s.command.do(t.Name, most)
	}
	return t
}
