package main

import (
	"errors"
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

// sentence is one that the file of GATEHOUSE_REPLIES may replace.
type sentence struct {
	key string
	to  *string // the built-in text, until it is replaced
}

// wording lists them: the three buckets' by their spec's names, dispatch's own by their fields'.
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

// loadReplies gives the sentences that gatehouse says itself, those in the file instead of the built-in ones; "" is no file. The
// file is a YAML mapping; what a built-in sentence shows of its case, its replacement must show too.
func loadReplies(file string) (chat.Replies, dispatch.Sentences, error) {
	replies, sentences := chat.DefaultReplies, dispatch.DefaultSentences()
	if file == "" {
		return replies, sentences, nil
	}
	text, err := os.Open(file)
	if err != nil {
		return replies, sentences, core.Wrap(core.Invalid, err, "The file of replies can't be read.")
	}
	defer text.Close()
	var given map[string]string
	if err := yaml.NewDecoder(text).Decode(&given); err != nil && !errors.Is(err, io.EOF) {
		return replies, sentences, core.Wrap(core.Invalid, err, "The file of replies %s can't be understood; it must be lines of the form key: a sentence.", file)
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
		faults = append(faults, key+" is none of "+strings.Join(keys, ", "))
	}
	if len(faults) > 0 {
		slices.Sort(faults)
		return replies, sentences, core.Errorf(core.Invalid, "In the file of replies %s, %s.", file, strings.Join(faults, "; "))
	}
	return replies, sentences, nil
}

var verb = regexp.MustCompile(`%.?`)

// replaces says what hinders a text from standing in for a built-in one.
func replaces(builtin, text string) (fault string) {
	const diagnostic = "{diagnostic}"
	want := verb.FindString(builtin)
	got := verb.FindAllString(strings.ReplaceAll(text, "%%", ""), -1)
	switch {
	case strings.TrimSpace(text) == "":
		return "is empty; people would read nothing"
	case strings.Contains(builtin, diagnostic) && !strings.Contains(text, diagnostic):
		return "must show what is wrong: write " + diagnostic + " where it belongs"
	case want != "" && !slices.Equal(got, []string{want}):
		return "must show " + want + " once, as the built-in sentence does, and any other percent sign doubled"
	}
	return ""
}
