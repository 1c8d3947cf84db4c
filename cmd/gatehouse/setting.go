package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kelseyhightower/envconfig"

	"gatehouse/core"
)

// setting is one variable as it was read: what gatehouse config prints.
type setting struct {
	Key     string `json:"key"`
	Value   string `json:"value"` // a secret's is masked
	Source  string `json:"source"`
	Meaning string `json:"meaning"`
	secret  string
}

// The sources of a setting; a secret's may also be "file PATH".
const (
	fromDefault = "default"
	fromEnv     = "environment"
)

// loadConfig reads the environment. The settings come back with an error too; the error, of category invalid, names every fault.
func loadConfig() (Config, []setting, error) {
	cfg, settings, faults := readConfig()
	if len(faults) > 0 {
		return Config{}, settings, core.Errorf(core.Invalid, "The configuration is wrong:\n  %s", strings.Join(faults, "\n  "))
	}
	return cfg, settings, nil
}

// readConfig reads the environment; the faults begin with the key each.
func readConfig() (Config, []setting, []string) {
	var cfg Config
	settings, faults := process(reflect.ValueOf(&cfg).Elem())
	known := map[string]bool{}
	for _, f := range faults {
		key, _, _ := strings.Cut(f, ":")
		known[key] = true
	}
	for _, f := range cfg.Validate() {
		if key, _, _ := strings.Cut(f, ":"); !known[key] { // said already
			faults = append(faults, f)
		}
	}
	slices.Sort(faults)
	return cfg, settings, faults
}

// process fills a struct field by field, each through envconfig by itself: envconfig stops at the first fault, people want all.
func process(into reflect.Value) (settings []setting, faults []string) {
	for _, field := range settingFields(into.Type()) {
		s := setting{Key: field.Tag.Get("envconfig"), Meaning: field.Tag.Get("help"), secret: field.Tag.Get("secret")}
		raw, fault := s.read(field.Tag.Get("default"))
		if fault == "" {
			fault = s.decode(raw, field, into.FieldByIndex(field.Index))
		}
		if fault != "" {
			faults = append(faults, s.Key+": "+fault)
		}
		settings = append(settings, s)
	}
	return settings, faults
}

// read finds the setting's text and where it comes from. A variable that is set and empty counts as not set, as an empty line
// in a file of variables means it.
func (s *setting) read(def string) (raw, fault string) {
	raw, s.Source = os.Getenv(s.Key), fromEnv
	path := ""
	if s.secret != "" {
		path = os.Getenv(s.Key + "_FILE")
	}
	switch {
	case raw != "" && path != "":
		fault = s.Key + "_FILE is set too; use one of the two"
	case path != "":
		s.Source = "file " + path
		text, err := os.ReadFile(path)
		if raw = strings.TrimSpace(string(text)); err != nil {
			fault = "the file that " + s.Key + "_FILE names can't be read: " + err.Error()
		} else if raw == "" {
			fault = "the file " + path + " is empty"
		}
	case raw == "":
		raw, s.Source = def, fromDefault
	}
	s.Value = mask(s.secret, raw)
	return raw, fault
}

// decode has envconfig turn the text into the field's type. The text travels as the default of a struct with this one field,
// whose variable can't exist.
func (s *setting) decode(raw string, field reflect.StructField, into reflect.Value) (fault string) {
	if raw == "" {
		return ""
	}
	kind := field.Type
	if field.Tag.Get("unit") == "bytes" {
		kind = reflect.TypeFor[byteSize]()
	}
	tag := reflect.StructTag(`envconfig:"\x00" default:` + strconv.Quote(raw))
	one := reflect.New(reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: kind, Tag: tag}}))
	err := envconfig.Process("", one.Interface())
	if err == nil {
		into.Set(one.Elem().Field(0).Convert(field.Type))
		return ""
	}
	var parse *envconfig.ParseError
	shown := strconv.Quote(raw)
	if s.secret != "" {
		shown = "its value"
	}
	if !errors.As(err, &parse) {
		return shown + " can't be read"
	}
	return fmt.Sprintf("%s is not %s", shown, want(kind))
}

// want says what a type looks like.
func want(kind reflect.Type) string {
	switch {
	case kind == reflect.TypeFor[byteSize]():
		return "a size, such as 64KiB or 1MiB"
	case kind.String() == "time.Duration":
		return "a length of time, such as 30s, 15m or 24h"
	case kind.String() == "slog.Level":
		return "one of debug, info, warn, error"
	case kind.Kind() == reflect.Bool:
		return "true or false"
	case kind.Kind() == reflect.Int:
		return "a whole number"
	case kind.Kind() == reflect.Float64:
		return "a number"
	}
	return "of the right form"
}

// byteSize is a number of bytes, with or without a unit.
type byteSize int

// Decode reads 1024, 64KiB, 1MiB, 1GiB.
func (b *byteSize) Decode(s string) error {
	number, shift := strings.TrimSpace(s), 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if n, ok := strings.CutSuffix(number, unit); ok {
			number, shift = strings.TrimSpace(n), 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n<<shift>>shift != n {
		return fmt.Errorf("%q is not a size", s)
	}
	*b = byteSize(n << shift)
	return nil
}

var passwordParam = regexp.MustCompile(`((?i:password|sslpassword)=)[^&\s]*`)

// mask hides a secret: all of it, or of a URL the password.
func mask(secret, value string) string {
	switch {
	case secret == "" || value == "":
		return value
	case secret != "url":
		return "••••••"
	}
	u, err := url.Parse(value)
	if err != nil {
		return "••••••"
	}
	return passwordParam.ReplaceAllString(u.Redacted(), "${1}xxxxx")
}
