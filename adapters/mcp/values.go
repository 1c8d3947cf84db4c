package mcp

import (
	"regexp"
	"strings"

	"gatehouse/core/mask"
	"gatehouse/core/strictjson"
)

// text reads a text and puts the environment's variables into it.
func (f *fields) text(key string, v *strictjson.Value) string {
	if v.Kind != strictjson.String {
		f.fault(v.Line, f.server, "%q must be a text, in quotes", key)
		return ""
	}
	return f.expand(key, v)
}

// list reads a list of texts.
func (f *fields) list(m strictjson.Member) (all []string) {
	if m.Value.Kind != strictjson.Array {
		f.fault(m.Line, f.server, `%q must be a list of texts: ["…", "…"]`, m.Key)
		return nil
	}
	for _, item := range m.Value.Items {
		all = append(all, f.text(m.Key, item))
	}
	return all
}

// texts reads an object of texts.
func (f *fields) texts(m strictjson.Member) map[string]string {
	if m.Value.Kind != strictjson.Object {
		f.fault(m.Line, f.server, `%q must be an object of texts: {"NAME": "value"}`, m.Key)
		return nil
	}
	all := map[string]string{}
	for _, one := range m.Value.Members {
		all[one.Key] = f.text(m.Key+"."+one.Key, one.Value)
	}
	return all
}

// variable matches ${VAR}, ${env:VAR} and ${VAR:-value}.
var variable = regexp.MustCompile(`\$\{(?:env:)?([^}:]*)(:-[^}]*|:[^}]*)?\}`)

// expand replaces variables in a text. A variable that is not set, and has no value for that case, is a fault.
func (f *fields) expand(key string, v *strictjson.Value) string {
	return variable.ReplaceAllStringFunc(v.String, func(whole string) string {
		part := variable.FindStringSubmatch(whole)
		name, otherwise := part[1], part[2]
		otherwise, has := strings.CutPrefix(otherwise, ":-")
		if !has && otherwise != "" || name == "" {
			f.fault(v.Line, f.server, "%q has %s, which gatehouse does not know; write ${VARIABLE}, of the environment",
				key, mask.Without(whole, mask.Setting(name, strings.TrimPrefix(otherwise, ":"))))
			return ""
		}
		value, set := f.getenv(name)
		if !set || value == "" {
			value = otherwise
		}
		if value != "" || has {
			_, at, _ := strings.Cut(key, ".")
			f.expanded = append(f.expanded, expansion{at, name, value})
			return value
		}
		f.fault(v.Line, f.server, "%q needs the variable %s, which is not set; set it in gatehouse's environment", key,
			name)
		return ""
	})
}
