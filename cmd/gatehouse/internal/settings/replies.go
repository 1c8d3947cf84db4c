package settings

import (
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
	"gatehouse/core/strictyaml"
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
// The file is a YAML mapping. A placeholder of a built-in sentence must be in its replacement too, but for an error's own message, which may
// only be where the built-in one has it. A category of which dispatch has a sentence of that name can't be replaced. Errors: strictyaml.Faults.
func loadReplies(file string) (chat.Replies, dispatch.Sentences, core.Sentences, error) {
	replies, sentences, words := chat.DefaultReplies, dispatch.DefaultSentences(), core.Sentences{}
	r := strictyaml.Reader{File: file}
	var root *yaml.Node
	if file != "" {
		data, _ := r.ReadFile()
		root = r.Parse(data, "")
	}
	if root == nil {
		return replies, sentences, words, r.Err()
	}
	var keys []string
	texts := map[string]*string{}
	for _, s := range wording(&replies, &sentences) {
		keys, texts[s.key] = append(keys, s.key), s.to
	}
	for _, c := range core.Categories() {
		if key := string(c); texts[key] == nil {
			text := core.Sentence(c)
			keys, texts[key], words[c] = append(keys, key), &text, text
		}
	}
	for _, e := range r.Entries(root, "the file", keys) {
		to := texts[e.Key]
		text, ok := r.Text(e.Value, e.Key, strconv.Quote(*to))
		if what, do := incomplete(*to, text); ok && what != "" {
			r.Fault(e.Value, do, "%s %s", e.Key, what)
		}
		*to = text
	}
	for c := range words {
		words[c] = *texts[string(c)]
	}
	return replies, sentences, words, r.Err()
}

var verb = regexp.MustCompile(`%.?`)

// incomplete returns what is wrong with a text that is to replace a built-in one, and the remedy; "" = nothing.
func incomplete(builtin, text string) (what, do string) {
	const diagnostic = "{diagnostic}"
	want := verb.FindString(builtin)
	got := verb.FindAllString(strings.ReplaceAll(text, "%%", ""), -1)
	switch {
	case strings.Contains(builtin, diagnostic) && !strings.Contains(text, diagnostic):
		return "has no " + diagnostic, "write it where the reason is to stand"
	case strings.Contains(text, core.OwnMessage) && !strings.Contains(builtin, core.OwnMessage):
		return "must not have " + core.OwnMessage, "leave it out: what others say is not shown to people"
	case want != "" && !slices.Equal(got, []string{want}):
		return "does not have " + want + " exactly once", "write it once, and %% for any other percent sign"
	}
	return "", ""
}
