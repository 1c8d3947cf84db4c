package tools

import (
	"cmp"
	"path/filepath"
	"slices"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
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
	strictyaml.Reader
	Options
	folder string                // of the file: relative paths start there
	names  map[string]*yaml.Node // where they are

	warnings strictyaml.Faults
}

// Load reads a file of tools and checks all that can be checked before a tool runs. What the tools get from the
// environment is read now. The tools are prepared, and a tool's version changes with what the file says of it. Errors:
// strictyaml.Faults.
func Load(path string, o Options) ([]tool.Tool, error) {
	all, _, err := load(path, o)
	return all, err
}

// load is Load, with what may be wrong with the programs of the tools.
func load(path string, o Options) ([]tool.Tool, strictyaml.Faults, error) {
	l := &loader{Reader: strictyaml.Reader{File: path}, Options: o, names: map[string]*yaml.Node{}}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	l.folder = folder
	var all []tool.Tool
	if data, ok := l.ReadFile(); ok {
		if root := l.Parse(data, "begin with version: 1, then tools"); root != nil {
			all = l.root(root)
		}
	}
	if err := l.Err(); err != nil {
		return nil, nil, err
	}
	return all, l.warnings, nil
}

func (l *loader) root(n *yaml.Node) (all []tool.Tool) {
	parts := l.Values(n, "the file of tools", "version", "tools")
	if n.Kind == yaml.MappingNode {
		l.Version(n, parts["version"])
	}
	if list := parts["tools"]; list != nil {
		for _, item := range l.List(list, "tools", "- name: shop.refund") {
			if t, ok := l.tool(item); ok {
				all = append(all, t)
			}
		}
	}
	return all
}

// spec is a tool as the file describes it.
type spec struct {
	tool.Tool
	risk     string
	schema   *yaml.Node
	template *yaml.Node
	command  *command
	http     *call
	onlyOf   []strictyaml.Entry // what belongs to command alone
	declares int                // how many of command and http there are
}

var toolKeys = []string{
	"name", "description", "risk", "arguments", "summary", "timeout", "max_output", "idempotent", "command", "dir",
	"env", "http",
}

// tool reads one tool; ok is false if it has faults.
func (l *loader) tool(n *yaml.Node) (t tool.Tool, ok bool) {
	before := len(l.Faults)
	s := spec{command: &command{dir: l.folder}}
	all := l.Entries(n, "a tool", toolKeys)
	for _, e := range all {
		l.value(&s, e)
	}
	if n.Kind != yaml.MappingNode {
		return t, false
	}
	has := func(key string) bool {
		return slices.ContainsFunc(all, func(e strictyaml.Entry) bool { return e.Key == key })
	}
	for key, example := range map[string]string{
		"name":        "name: shop.refund",
		"description": "description: and one sentence that tells the model what the tool does",
		"risk":        "risk: read, write or destructive",
	} {
		if !has(key) {
			l.Fault(n, "add "+example, "the tool has no %s", key)
		}
	}
	if s.declares != 1 {
		l.Fault(n, "give it either command: [./refund.sh] or http: {method: POST, url: …}",
			"the tool has %d of command and http", s.declares)
	}
	if s.http != nil {
		for _, e := range s.onlyOf {
			l.Fault(e.At, "remove it", "%s belongs to tools with a command", e.Key)
		}
	}
	l.arguments(&s)
	if len(l.Faults) > before {
		return t, false
	}
	whole, ok := l.JSON(n, "the tool")
	if !ok {
		return t, false
	}
	s.Version = core.Digest(whole)
	t, err := s.build().Prepare()
	if err != nil {
		l.Fault(n, "correct it", "the tool can't be used: %s", core.MessageOf(err))
	}
	return t, err == nil
}

// value reads one key of a tool.
func (l *loader) value(s *spec, e strictyaml.Entry) {
	switch e.Key {
	case "name":
		s.Name = l.name(e.Value)
	case "description":
		s.Description, _ = l.Text(e.Value, "description", "Refunds an order.")
	case "risk":
		s.risk, _ = l.Word(e.Value, "risk", []string{"read", "write", "destructive"})
	case "arguments":
		s.schema = e.Value
	case "summary":
		if _, ok := l.Text(e.Value, "summary", "Refund {{amount}} to {{customer}}"); ok {
			s.template = e.Value
		}
	case "timeout":
		s.Timeout = l.duration(e.Value, "timeout")
	case "max_output":
		s.MaxOutput = l.size(e.Value, "max_output")
	case "idempotent":
		s.Idempotent = l.Bool(e.Value, "idempotent")
	case "command":
		s.declares++
		l.program(s.command, e.Value)
	case "dir":
		s.onlyOf = append(s.onlyOf, e)
		l.dir(s.command, e.Value)
	case "env":
		s.onlyOf = append(s.onlyOf, e)
		l.environment(s.command, e.Value)
	case "http":
		s.declares++
		s.http = l.http(e.Value)
	}
}

// name reads a tool's name, which no other tool has.
func (l *loader) name(n *yaml.Node) string {
	name, ok := l.Text(n, "name", "shop.refund")
	switch before := l.names[name]; {
	case !ok:
		return ""
	case !tool.ValidName(name):
		l.Fault(n, "write it as "+tool.NameForm+", such as shop.refund",
			"the name %s can't be used", strictyaml.Quoted(name))
	case before != nil:
		l.Fault(n, "give each tool a name of its own", "the name %s is that of two tools, in line %d too",
			strictyaml.Quoted(name), before.Line)
	case slices.Contains(l.Taken, name):
		l.Fault(n, "choose another one", "the name %s is that of a tool of gatehouse's own", strictyaml.Quoted(name))
	}
	l.names[name] = n
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
	t.Summarize, t.Says = summary(t.Name, template), says(template)
	most := cmp.Or(t.MaxOutput, tool.DefaultMaxOutput)
	if s.http != nil {
		t.Do = s.http.do(t.Name, most)
	} else {
		t.Do, t.Process = s.command.do(t.Name, most), true
	}
	return t
}
