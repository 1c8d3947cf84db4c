package settings

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
)

// sentence is a sentence that the file GATEHOUSE_REPLIES may replace.
type sentence struct {
	key string
	to  *string // the built-in text, until it is replaced
}

// wording lists them: the three buckets' by the specification's names, dispatch's own by their field names.
func wording(r *chat.Replies, s *dispatch.Sentences) []sentence {
	all := []sentence{
		{string(core.SessionTerminating), &r.Terminating}, {string(core.RetryableTransient), &r.Transient}, {string(core.UserCorrectable), &r.Correctable},
	}
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		all = append(all, sentence{snake(v.Type().Field(i).Name), v.Field(i).Addr().Interface().(*string)})
	}
	return all
}

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

// snake writes NothingRuns as nothing_runs.
func snake(name string) string { return strings.ToLower(capital.ReplaceAllString(name, "${1}_${2}")) }

// loadReplies returns gatehouse's own sentences, with those of the file in place of the built-in ones; "" = no file.
// The file is a YAML mapping. A placeholder of a built-in sentence must be in its replacement too.
func loadReplies(file string) (chat.Replies, dispatch.Sentences, error) {
	replies, sentences := chat.DefaultReplies, dispatch.DefaultSentences()
	if file == "" {
		return replies, sentences, nil
	}
	text, err := os.Open(file)
	if err != nil {
		return replies, sentences, fmt.Errorf("can't read the file: %w", err)
	}
	defer text.Close()
	var given map[string]string
	if err := yaml.NewDecoder(text).Decode(&given); err != nil && !errors.Is(err, io.EOF) {
		return replies, sentences, fmt.Errorf("%s is not a list of lines of the form key: sentence: %w", file, err)
	}
	var keys, faults []string
	for _, s := range wording(&replies, &sentences) {
		keys = append(keys, s.key)
		if replacement, ok := given[s.key]; ok {
			if fault := replaces(*s.to, replacement); fault != "" {
				faults = append(faults, s.key+" "+fault)
			}
			*s.to = replacement
		}
		delete(given, s.key)
	}
	for key := range given {
		faults = append(faults, "unknown key "+key+" (the keys are "+strings.Join(keys, ", ")+")")
	}
	if len(faults) > 0 {
		slices.Sort(faults)
		return replies, sentences, fmt.Errorf("in %s: %s", file, strings.Join(faults, "; "))
	}
	return replies, sentences, nil
}

var verb = regexp.MustCompile(`%.?`)

// replaces returns why a text can't replace a built-in one; "" = it can.
func replaces(builtin, text string) (fault string) {
	const diagnostic = "{diagnostic}"
	want := verb.FindString(builtin)
	got := verb.FindAllString(strings.ReplaceAll(text, "%%", ""), -1)
	switch {
	case strings.TrimSpace(text) == "":
		return "is empty"
	case strings.Contains(builtin, diagnostic) && !strings.Contains(text, diagnostic):
		return "must contain " + diagnostic
	case want != "" && !slices.Equal(got, []string{want}):
		return "must contain " + want + " exactly once, and %% for any other percent sign"
	}
	return ""
}
