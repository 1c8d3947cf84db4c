package mcp

import (
	"context"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gatehouse/core/mask"
)

// Value is one value of a server's entry, and whether models and people see it.
type Value struct {
	Place string // such as env JIRA_URL, header Authorization or URL segment 2
	State string // Hidden, InPart or Shown
}

// The states of a value.
const (
	Hidden = "hidden"
	InPart = "hidden in part"
	Shown  = "shown"
)

// value is one value of an entry.
type value struct {
	kind, name string // the place
	names      []string
	text       string
	hides      []string // what of it is hidden
	before     bool     // earlier versions hid it, whatever it was
}

// expansion is a variable of gatehouse's environment that stands in an entry.
type expansion struct {
	at    string // the variable or header of the entry that it stands in; "" elsewhere
	name  string
	value string
}

// values gives the values of an entry. What is hidden of each says mask.Setting by its name, "secret" and "public"
// where that guess is wrong, of a variable of gatehouse's environment also the name that it stands under. The path of a
// file is no secret because of its name: a server of files has it in all that it says.
func (s *Server) values() (all []value) {
	add := func(v value, hides ...string) {
		v.hides = slices.DeleteFunc(hides, func(text string) bool { return isFile(text) || filePath.MatchString(text) })
		switch {
		case v.listed(s.Public):
			v.hides = nil
		case v.listed(s.Secret):
			v.hides = mask.Setting("secret", v.text)
		}
		all = append(all, v)
	}
	long := func(text string) bool { return len(text) >= 6 && !isFile(text) } // what earlier versions hid
	for i, named := range []map[string]string{s.Env, s.Headers} {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			kind, text := []string{"env", "header"}[i], named[name]
			add(value{kind: kind, name: name, names: []string{name}, text: text, before: long(text)},
				mask.Setting(name, text)...)
		}
	}
	for _, e := range s.expanded {
		v := value{
			kind: "variable", name: e.name, names: []string{e.name, e.at}, text: e.value,
			before: long(e.value) && e.at == "",
		}
		add(v, slices.Concat(mask.Setting(e.name, e.value), mask.Setting(e.at, e.value))...)
	}
	for i, arg := range s.Args {
		name, text := flag(s.Args[:i], arg)
		add(value{kind: "argument", name: strconv.Itoa(i + 1), names: []string{name, "--" + name, text}, text: text},
			mask.Setting(name, text)...)
	}
	if u, err := url.Parse(s.URL); err == nil {
		s.address(u, add)
	}
	return all
}

// address gives the values in the server's URL.
func (s *Server) address(u *url.URL, add func(value, ...string)) {
	if password, ok := u.User.Password(); ok {
		add(value{kind: "URL", name: "password", text: password}, mask.Setting("password", password)...)
	}
	secret := mask.Steps(u.EscapedPath())
	for i, step := range strings.Split(u.EscapedPath(), "/") {
		plain, _ := url.PathUnescape(step) // EscapedPath gives no other
		hides := slices.DeleteFunc(slices.Clone(secret), func(part string) bool {
			return !strings.Contains(step, part) && !strings.Contains(plain, part)
		})
		if step != "" {
			before := len(step) >= 6 && strings.ContainsAny(step, "0123456789%=") || len(step) >= 20
			add(
				value{
					kind: "URL segment", name: strconv.Itoa(i), names: []string{step, plain}, text: plain,
					before: before,
				}, hides...)
		}
	}
	for pair := range strings.FieldsFuncSeq(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		name, text, ok := strings.Cut(pair, "=")
		if !ok {
			name, text = "", name // the whole query is one value
		}
		plain, err := url.QueryUnescape(text)
		if err != nil {
			plain = text
		}
		v := value{
			kind: "URL parameter", name: name, names: []string{name, text, plain}, text: plain, before: len(text) >= 6,
		}
		add(v, slices.Concat(mask.Setting(name, text), mask.Setting(name, plain))...)
	}
}

var flagged = regexp.MustCompile(`(?s)^-*([A-Za-z_][\w.-]*)=(.*)$`)

// flag gives an argument's name, which stands in it or before it as a flag; "" if it has none.
func flag(before []string, arg string) (name, text string) {
	if pair := flagged.FindStringSubmatch(arg); pair != nil {
		return pair[1], pair[2]
	}
	if n := len(before) - 1; n >= 0 && strings.HasPrefix(before[n], "-") && !strings.Contains(before[n], "=") &&
		!strings.HasPrefix(arg, "-") {
		name = strings.TrimLeft(before[n], "-")
	}
	return name, arg
}

// listed reports whether a list of the entry names the value. The names of headers have no case.
func (v *value) listed(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name != "" && (slices.Contains(v.names, name) || v.kind == "header" && strings.EqualFold(v.name, name))
	})
}

func (v *value) place() string { return v.kind + " " + v.name }

// filePath is the path of a file of some type, or in a folder such as .ssh, which may be one of a container.
var filePath = regexp.MustCompile(
	`^(?:(?:~|\.\.?)?/[\w/ .@-]*|[A-Za-z]:[\w\\/ .@-]*)\.[A-Za-z]\w{1,7}(?:[\\/][\w.@-]+)?$`)

func isFile(text string) bool {
	_, err := os.Stat(text)
	return err == nil && filepath.IsAbs(text)
}

// secrets gives what is hidden wherever the server shows it.
func (s *Server) secrets() (all []string) {
	for _, v := range s.values() {
		all = append(all, v.hides...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Hide removes the secrets of the entry and its login, and what has the form of a secret, from a text that a server had
// a part in.
func (s *server) Hide(text string) string { return mask.Text(s.without(text)) }

// without removes the secrets of the entry and its login.
func (s *server) without(text string) string {
	return mask.Without(s.hiding.In(text), s.login.Secrets())
}

// betrays reports whether names, in which nothing can be hidden, hold a secret that is no word.
func (s *server) betrays(names string) bool {
	return slices.ContainsFunc(s.hidden, func(secret string) bool {
		return (len(secret) >= 12 || len(secret) >= 8 && strings.ContainsAny(secret, "0123456789")) &&
			strings.Contains(names, secret)
	})
}

// states tells what models and people see of each value. Arguments of its command that are shown are left out: they are
// no secrets' usual place.
func (s *server) states() (all []Value) {
	for _, v := range s.values() {
		state := InPart
		if text := s.Hide(v.text); text == v.text {
			state = Shown
		} else if slices.Contains(s.hidden, v.text) || strings.HasPrefix(text, mask.Mark) {
			state = Hidden
		}
		if (v.kind != "argument" || state != Shown) && (v.kind != "variable" || v.names[1] == "") {
			all = append(all, Value{v.place(), state})
		}
	}
	return all
}

// checkSecrets finds names in "secret" and "public" that name nothing, or stand in both.
func (f *fields) checkSecrets(s Server) {
	values := s.values()
	for i, names := range [][]string{s.Secret, s.Public} {
		list := []string{"secret", "public"}[i]
		for _, name := range names {
			shown := mask.Without(name, mask.Setting("", name))
			switch {
			case list == "secret" && slices.Contains(s.Public, name):
				f.fault(f.line, f.server, `%q is in "secret" and in "public"; remove it from one of them`, shown)
			case !slices.ContainsFunc(values, func(v value) bool { return v.listed([]string{name}) }):
				f.warn(f.line, f.server,
					`%q in %q is the name of no variable or header of it, and no part of its URL; correct or remove it`,
					shown, list)
			}
		}
	}
}

// told is where it is stored that tellShown has told.
const told = "mcp.shown"

// tellShown warns, once in an installation, of each value that earlier versions hid, and that is shown now.
func (s *Servers) tellShown(ctx context.Context) {
	all, pins := s.list(), s.options.Pins
	if len(all) == 0 || pins == nil {
		return
	}
	if done, err := pins.Get(ctx, told); err != nil || done != "" {
		return // the next start tells
	}
	for _, one := range all {
		for _, v := range one.values() {
			if !v.before || one.Hide(v.text) != v.text {
				continue
			}
			name := strconv.Quote(v.name)
			if v.kind == "URL segment" {
				name = "the segment as it stands in the URL"
			}
			one.log.Warn("a value of the MCP server's entry in mcp.json, which earlier versions hid, is shown to "+
				"models and people; to hide it, "+
				"add it to the entry's secrets", "value", v.place(), "add", `"secret": [`+name+`]`)
		}
	}
	if err := pins.Put(ctx, told, "told"); err != nil {
		s.options.Log.Warn("it could not be stored that the values of mcp.json that are shown were told; the next "+
			"start tells them again", "err", err)
	}
}
