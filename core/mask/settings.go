package mask

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Setting returns what must be hidden of a setting's value, longest first: all of it, if its name says that it is a
// secret (see Names); otherwise what is named so inside of it (NAME=VALUE, a header, JSON, a parameter of a URL), a
// password in a URL, and what has the form of a secret or looks as if a machine had made it. What too many texts have
// is no secret: less than three characters, a word such as true, and the number of some tokens.
func Setting(name, value string) []string {
	f := found{}
	f.setting(name, value)
	all := slices.DeleteFunc(f, func(text string) bool { return common(text) || strings.Contains(text, Mark) })
	slices.Sort(all)
	all = slices.Compact(all)
	longestFirst(all)
	return all
}

// shortest is how many characters a secret needs.
const shortest = 3

var (
	commonWords = []string{
		"true", "false", "null", "none", "yes", "off", "enabled", "disabled", "required", "optional", "default",
		"always", "never", "auto", "basic", "bearer", "oauth",
	}
	number = regexp.MustCompile(`^[0-9]+$`)
	// assignment is NAME=VALUE; header is a line of NAME: VALUE; option is --NAME VALUE in a command.
	assignment  = regexp.MustCompile(`(?:^|[\s?#&;,"'{(-])([A-Za-z_][\w.-]*)=("[^"]*"|'[^']*'|[^\s&;,"']+)`)
	header      = regexp.MustCompile(`(?m)^([A-Za-z][\w-]*):[ \t]*([^/\s].*)$`)
	option      = regexp.MustCompile(`(?:^|\s)--?([A-Za-z][\w.-]*)\s+("[^"]*"|'[^']*'|[^\s"'-][^\s"']*)`)
	scheme      = regexp.MustCompile(`^([A-Za-z][\w-]*) +(\S.*)$`)
	inURL       = regexp.MustCompile(`[A-Za-z][\w+.-]*://[^\s"'<>]+`)
	urlPassword = regexp.MustCompile(`://([^/\s:@]*):([^/\s]*)@`)
	uuid        = regexp.MustCompile(`^(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})$`)
	longWords   = regexp.MustCompile(`[A-Z][a-z]{3,}|[a-z]{4,}|[A-Z]{4,}`)
	runs        = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+|[0-9]+`)
	further     = regexp.MustCompile(`^([&,][^\s=;"']*)(?:$|[\s;"'])`) // of a value that has a separator in it
	choice      = regexp.MustCompile(`^[A-Za-z_-]{1,10}$`)
	wordNumber  = regexp.MustCompile(`^(?:[A-Z]?[a-z]{2,}|[A-Z]{2,})[0-9]{1,6}$`)
	tokenLike   = regexp.MustCompile(`^[\w.~+/=-]+$`)
)

func common(text string) bool {
	return utf8.RuneCountInString(text) < shortest || slices.Contains(commonWords, strings.ToLower(text))
}

// found are secrets that were found.
type found []string

func (f *found) add(texts ...string) { *f = append(*f, texts...) }

func (f *found) setting(name, value string) {
	switch {
	case !Names(name):
		f.parts(name, value)
	case !number.MatchString(value) || !strings.HasSuffix(strings.ToLower(name), "tokens"):
		f.whole(value)
	}
}

// whole hides a value that is a secret, and each part of it that is one where it stands alone.
func (f *found) whole(value string) {
	f.add(value, strings.TrimSpace(value))
	if lines := strings.Split(strings.ReplaceAll(value, `\n`, "\n"), "\n"); len(lines) > 1 {
		for _, line := range lines {
			if line = strings.TrimSpace(line); len(line) >= 2*shortSecret && !armor.MatchString(line) {
				f.add(line)
			}
		}
	}
	if said := scheme.FindStringSubmatch(value); said != nil {
		f.add(said[2])
		f.credentials(said[2])
	}
	for _, pair := range assignment.FindAllStringSubmatch(value, -1) { // as in a cookie
		if value := strings.Trim(pair[2], `"'`); len(value) > shortSecret && !choice.MatchString(value) {
			f.add(value)
		}
	}
	f.parts("", value)
}

// credentials hides the password in the base64 of USER:PASSWORD, and reports whether a text is that.
func (f *found) credentials(text string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	_, password, ok := strings.Cut(string(plain), ":")
	if err != nil || !ok || !utf8.Valid(plain) {
		return false
	}
	f.add(string(plain), password)
	return true
}

// parts hides what is a secret in a value that is none as a whole.
func (f *found) parts(name, value string) {
	var object any
	if strings.ContainsAny(value, "{[") && json.Unmarshal([]byte(value), &object) == nil {
		f.object("", object)
		return
	}
	for _, form := range secretForms() {
		for _, m := range form.pattern.FindAllStringSubmatch(value, -1) {
			if (form.valid == nil || form.valid(m[1])) && !isUser(m[1], value) {
				f.add(m[1])
			}
		}
	}
	for _, at := range assignment.FindAllStringSubmatchIndex(value, -1) {
		name, text := value[at[2]:at[3]], strings.Trim(value[at[4]:at[5]], `"'`)
		f.setting(name, text)
		if plain, err := url.QueryUnescape(text); err == nil && plain != text {
			f.setting(name, plain)
		}
		if rest := further.FindStringSubmatch(value[at[5]:]); rest != nil {
			f.setting(name, text+rest[1])
		}
	}
	for _, said := range slices.Concat(header.FindAllStringSubmatch(value, -1),
		option.FindAllStringSubmatch(value, -1)) {
		f.setting(said[1], strings.Trim(said[2], "\"'\r"))
	}
	if said := scheme.FindStringSubmatch(value); said != nil {
		switch kind := strings.ToLower(said[1]); {
		case kind == "bearer" && !strings.Contains(said[2], " "), kind == "basic" && f.credentials(said[2]):
			f.add(said[2])
		}
	}
	for _, address := range inURL.FindAllString(value, -1) {
		f.address(address)
	}
	if !identifies(name) && !uuid.MatchString(value) && looksRandom(value) {
		f.add(value)
	}
}

// object hides what is a secret in a value that was decoded from JSON.
func (f *found) object(name string, v any) {
	switch v := v.(type) {
	case string:
		f.setting(name, v)
	case []any:
		for _, item := range v {
			f.object(name, item)
		}
	case map[string]any:
		for key, item := range v {
			if Names(name) {
				key = name
			}
			f.object(key, item)
		}
	}
}

// address hides what is a secret in a URL, beside what is named so in its query: passwords, users that are tokens, and
// steps of its path.
func (f *found) address(text string) {
	if said := urlPassword.FindStringSubmatch(text); said != nil && !isUser(said[2], text) {
		f.add(said[2])
		if plain, err := url.PathUnescape(said[2]); err == nil {
			f.add(plain)
		}
	}
	_, rest, _ := strings.Cut(text, "://")
	rest, _, _ = strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	if user, _, ok := strings.Cut(host, "@"); ok && looksRandom(user) {
		f.add(user)
	}
	f.add(Steps(path)...)
}

// isUser reports whether a password in a URL is the name of the user, too, as in postgres://postgres:postgres@db:
// everybody knows it, and hiding it hides the name.
func isUser(password, address string) bool {
	return strings.Contains(address, "://"+password+":"+password+"@")
}

// Steps returns what must be hidden of the path of a URL: steps that are secrets, as Setting says, or UUIDs, which are
// the keys of many endpoints, and those behind one that names a secret.
func Steps(path string) (all []string) {
	before := ""
	for step := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(step)
		if err != nil {
			plain = step
		}
		if uuid.MatchString(plain) || namesSecret(before) && mixed(plain) {
			all = append(all, step, plain)
		}
		for _, text := range []string{step, plain} {
			all = append(all, Setting("", text)...)
		}
		before = plain
	}
	return all
}

// minRandom is how many characters look as if a machine had made them.
const minRandom = 16

// looksRandom reports whether a text looks as if a machine had made it: without its words and numbers it is long, and
// is of more than one kind of characters. Behind the beginning of a well-known kind of token less is enough.
func looksRandom(text string) bool {
	if !tokenLike.MatchString(text) {
		return false
	}
	begins := issued.FindString(text)
	rest := ""
	for _, part := range strings.FieldsFunc(text[len(begins):], func(r rune) bool {
		return strings.ContainsRune("-_.~+/=", r)
	}) {
		if !wordy(part) && !number.MatchString(part) && (begins != "" || !wordNumber.MatchString(part)) {
			rest += part
		}
	}
	if begins != "" && len(rest) >= 2*shortSecret {
		return mixed(rest)
	}
	known := 0
	for _, word := range longWords.FindAllString(rest, -1) {
		known += len(word)
	}
	ofWords := 3*known >= 2*len(rest) && 2*len(runs.FindAllString(rest, -1)) <= len(rest)
	bothCases := count(rest, unicode.IsLower) > 0 && count(rest, unicode.IsUpper) > 0
	return len(rest) >= minRandom && !ofWords &&
		(bothCases || count(rest, unicode.IsLetter) >= 4 && count(rest, unicode.IsDigit) >= 2)
}

func count(text string, is func(rune) bool) (n int) {
	for _, r := range text {
		if is(r) {
			n++
		}
	}
	return n
}
