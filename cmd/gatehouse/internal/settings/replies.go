package settings

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
	"gatehouse/core/strictyaml"
)

// Said is what gatehouse itself says.
type Said struct {
	Replies   chat.Replies
	Sentences dispatch.Sentences
	Errors    core.Sentences
	Words     map[string]string // in place of built-in texts of cards, by their keys: see package wording
}

// sentence is a text that the file GATEHOUSE_REPLIES may replace.
type sentence struct {
	key  string
	to   *string // the built-in text, until it is replaced
	err  bool    // it is an error's, and its key the category
	card bool    // it is one of wording.Texts
}

// sentences lists them: the three buckets' by the specification's names, dispatch's own and those of cards by their
// field names, and those of the other errors by their categories. A category of which dispatch has a sentence of that
// name is not among them.
func (s *Said) sentences() []sentence {
	all := []sentence{
		{key: string(core.SessionTerminating), to: &s.Replies.Terminating},
		{key: string(core.RetryableTransient), to: &s.Replies.Transient},
		{key: string(core.UserCorrectable), to: &s.Replies.Correctable},
	}
	for key, to := range wording.Fields(&s.Sentences) {
		all = append(all, sentence{key: key, to: to})
	}
	for _, c := range core.Categories() {
		known := func(other sentence) bool { return other.key == string(c) }
		if text := core.Sentence(c); !slices.ContainsFunc(all, known) {
			all = append(all, sentence{key: string(c), to: &text, err: true})
		}
	}
	for key, to := range wording.Fields(wording.New(nil)) {
		all = append(all, sentence{key: key, to: to, card: true})
	}
	return all
}

// loadReplies returns what gatehouse says, with the texts of the file in place of the built-in ones; "" = no file. The
// file is a YAML mapping. A placeholder of a built-in sentence must be in its replacement too, but for an error's own
// message, which may only be where the built-in one has it. Errors: strictyaml.Faults.
func loadReplies(file string) (Said, error) {
	said := Said{
		Replies: chat.DefaultReplies, Sentences: dispatch.DefaultSentences(), Errors: core.Sentences{},
		Words: map[string]string{},
	}
	r := strictyaml.Reader{File: file}
	var root *yaml.Node
	if file != "" {
		data, _ := r.ReadFile()
		root = r.Parse(data, "")
	}
	if root == nil {
		return said, r.Err()
	}
	var keys []string
	texts := map[string]sentence{}
	for _, s := range said.sentences() {
		keys, texts[s.key] = append(keys, s.key), s
	}
	for _, e := range r.Entries(root, "the file", keys) {
		s := texts[e.Key]
		text, ok := r.Text(e.Value, e.Key, strconv.Quote(*s.to))
		what, do := incomplete(*s.to, text)
		if s.card {
			what, do = wording.Fault(*s.to, text)
			said.Words[e.Key] = text
		}
		if ok && what != "" {
			r.Fault(e.Value, do, "%s %s", e.Key, what)
		}
		*s.to = text
	}
	for key, s := range texts {
		if s.err {
			said.Errors[core.Category(key)] = *s.to
		}
	}
	return said, r.Err()
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
