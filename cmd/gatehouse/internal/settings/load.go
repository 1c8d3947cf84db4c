package settings

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kelseyhightower/envconfig"

	"gatehouse/core"
	"gatehouse/core/llm"
)

// Setting is one variable as it was read: what gatehouse config prints.
type Setting struct {
	Key     string `json:"key"`
	Value   string `json:"value"` // a secret's is masked
	Source  string `json:"source"`
	Meaning string `json:"meaning"`

	From    string            `json:"-"` // where its value is copied from; "" = not known
	digest  [sha256.Size]byte // of its value, and of the text of the file that it names
	initial string            // the value of a variable that is not set
	secret  string            // the tag of that name; "" = not secret
}

// The sources of a setting; a secret's may also be "file PATH".
const (
	fromDefault = "default"
	fromEnv     = "environment"
)

// Source is where settings are read from: the environment, for the program with these platforms and vendors.
type Source struct {
	Platforms func() []core.Driver // makes new ones, without settings
	Vendors   func() []llm.Vendor  // likewise
}

func (s Source) config() Config { return Config{Drivers: s.Platforms(), Vendors: s.Vendors()} }

// Load reads the environment. The settings come back with an error too; the error, of category invalid, names every
// fault.
func (s Source) Load() (Config, []Setting, error) {
	return s.load()
}

// LoadForCommands is Load for what runs no agent: the faults of the approval policy, the system prompt, the greeting,
// the tools, the MCP servers and the script are left out. Only GATEHOUSE_APPROVERS is in force then, and there are
// neither a system prompt nor tools.
func (s Source) LoadForCommands() (Config, []Setting, error) {
	return s.load("GATEHOUSE_APPROVAL_POLICY:", "GATEHOUSE_SYSTEM_PROMPT_FILE:", "GATEHOUSE_TOOLS:",
		"GATEHOUSE_MCP_CONFIG:", "GATEHOUSE_GREETING_FILE:", scriptFault)
}

// load leaves out the faults that begin with one of these.
func (s Source) load(without ...string) (Config, []Setting, error) {
	cfg, all, faults := s.Read()
	faults = slices.DeleteFunc(faults, func(fault string) bool {
		return slices.ContainsFunc(without, func(beginning string) bool { return strings.HasPrefix(fault, beginning) })
	})
	if len(faults) > 0 {
		return Config{}, all, Invalid(faults)
	}
	return cfg, all, nil
}

// Read is Load with the faults as a list, sorted. Each begins with its key, and a key has one fault at most.
func (s Source) Read() (Config, []Setting, []string) {
	cfg := s.config()
	all, faults := cfg.decode()
	cfg.settings = all
	for _, fault := range cfg.complete() {
		if !slices.ContainsFunc(faults, func(other string) bool { return keyOf(other) == keyOf(fault) }) {
			faults = append(faults, fault)
		}
	}
	for i, fault := range faults {
		faults[i] = MaskURLs(fault) // it may show the value
	}
	slices.Sort(faults)
	return cfg, all, faults
}

// Keys are the names of all variables that are read, those of secret files among them.
func (s Source) Keys() []string {
	var keys []string
	cfg := s.config()
	for _, one := range cfg.describe() {
		keys = append(keys, one.Key)
		if one.secret != "" {
			keys = append(keys, one.Key+"_FILE")
		}
	}
	return keys
}

// describe lists the settings of all structs by their tags.
func (c *Config) describe() []Setting {
	var all []Setting
	people, _ := c.Platforms().Examples()
	for _, part := range c.parts() {
		for field := range reflect.TypeOf(part).Elem().Fields() {
			if key := field.Tag.Get("envconfig"); key != "" {
				meaning := cmp.Or(field.Tag.Get("help"), help[key])
				all = append(all, Setting{
					Key:     key,
					Meaning: strings.ReplaceAll(meaning, "{people}", strings.Join(people, ",")),
					From:    field.Tag.Get("from"),
					initial: field.Tag.Get("default"),
					secret:  field.Tag.Get("secret"),
				})
			}
		}
	}
	return all
}

// decode fills the structs from the environment.
func (c *Config) decode() (all []Setting, faults []string) {
	all = c.describe()
	defer restoreLater(all)()
	for i := range all {
		if fault := all[i].resolve(); fault != "" {
			faults = append(faults, all[i].Key+": "+fault)
		}
	}
	for _, part := range c.parts() {
		err := envconfig.Process("", part)
		for parse := (*envconfig.ParseError)(nil); errors.As(err, &parse); err = envconfig.Process("", part) {
			faults = append(faults, fmt.Sprintf("%s: %q is not %s", parse.KeyName, parse.Value, form(parse.TypeName)))
			_ = os.Unsetenv(parse.KeyName) // envconfig stops at the first fault; this finds the next one
		}
		if err != nil {
			panic(err) // the struct is declared wrongly
		}
	}
	return all, faults
}

// changing is held while the environment is changed.
var changing sync.Mutex

// restoreLater lets the settings' variables be changed, because envconfig reads no others than the process's. The
// function that it returns restores them; until then no other goroutine can change them.
func restoreLater(all []Setting) (restore func()) {
	changing.Lock()
	before := map[string]string{} // of the variables that are set
	for _, s := range all {
		if value, set := os.LookupEnv(s.Key); set {
			before[s.Key] = value
		}
	}
	return func() {
		defer changing.Unlock()
		for _, s := range all {
			if value, set := before[s.Key]; set {
				_ = os.Setenv(s.Key, value) // a value that it had before
			} else {
				_ = os.Unsetenv(s.Key)
			}
		}
	}
}

// resolve finds the value of a setting and where it comes from, and leaves the value in the environment. A variable
// that is set and empty counts as not set, as an empty line in a file of variables means it.
func (s *Setting) resolve() (fault string) {
	value, path := os.Getenv(s.Key), ""
	s.Source = fromEnv
	if s.secret != "" {
		path = os.Getenv(s.Key + "_FILE")
	}
	switch {
	case value != "" && path != "":
		fault = s.Key + "_FILE is set too; use one of the two"
	case path != "":
		s.Source = "file " + path
		text, err := core.ReadText(path)
		if value = strings.TrimSpace(string(text)); err != nil {
			fault = "can't read the file that " + s.Key + "_FILE names: " + err.Error()
		} else if value == "" {
			fault = "the file " + path + " is empty"
		}
	case value == "":
		s.Source = fromDefault
	case quoted(value):
		fault = "its value begins and ends with a quote, which docker run --env-file keeps; write it without quotes"
	}
	if value == "" {
		_ = os.Unsetenv(s.Key) // it fails for no key
	} else if err := os.Setenv(s.Key, value); err != nil {
		fault = "the value can't be used: " + err.Error()
	}
	if s.Source == fromDefault {
		value = s.initial
	}
	s.Value = Mask(s.secret, value)
	s.digest = sha256.Sum256([]byte(value))
	if texts[s.Key] && value != "" {
		text, _ := core.ReadText(value) // complete says what is wrong with it
		s.digest = sha256.Sum256(text)
	}
	return fault
}

// quoted reports whether a value stands in quotes.
func quoted(value string) bool {
	last := len(value) - 1
	return last > 0 && (value[0] == '"' || value[0] == '\'') && value[last] == value[0]
}

// form describes the valid values of a type.
func form(typeName string) string {
	switch typeName {
	case "settings.Bytes":
		return "a size, such as 64KiB or 1MiB"
	case "settings.Memory":
		return "half, or a size, such as 256MiB"
	case "time.Duration":
		return "a duration, such as 30s, 15m or 24h"
	case "slog.Level":
		return "one of debug, info, warn, error"
	case "bool":
		return "true or false"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	}
	return "a valid value"
}

// keyOf is the key that a fault begins with.
func keyOf(fault string) string {
	key, _, _ := strings.Cut(fault, ":")
	return key
}
