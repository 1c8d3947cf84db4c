package settings

import (
	"net/url"
	"regexp"
	"strings"
)

// What is shown of a secret: of a whole one, and of a part of a URL.
const (
	hidden = "••••••"
	cut    = "xxxxx"
)

// Mask returns a setting's value as it may be shown: nothing of a secret, and of any other value all but the passwords
// and keys in URLs. secret is the tag of that name.
func Mask(secret, value string) string {
	switch {
	case value == "":
		return ""
	case secret != "" && secret != "url":
		return hidden
	}
	if _, err := url.Parse(value); err != nil && secret == "url" {
		return hidden
	}
	return MaskURLs(value)
}

var (
	urlStart = regexp.MustCompile(`[A-Za-z][\w+.-]*://`)
	bareUser = regexp.MustCompile(`([^\s"'/:@,]+):[^\s"']+@`)
)

// MaskURLs hides the passwords and keys of all URLs in a text: the user's password, or a user without one outside of
// databases; and the values of parameters whose names say so, in a query or a fragment. A URL that can't be read is
// hidden whole. What looks like USER:PASSWORD@HOST counts as a URL without its scheme, which a proxy may have.
func MaskURLs(text string) string {
	var b strings.Builder
	starts := urlStart.FindAllStringIndex(text, -1)
	end := 0
	for i, start := range starts {
		if start[0] < end {
			continue
		}
		b.WriteString(maskBare(text[end:start[0]]))
		end = len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		if n := strings.IndexAny(text[start[1]:end], " \t\r\n\"'<>`"); n >= 0 {
			end = start[1] + n
		}
		for end > start[1] && strings.ContainsRune(",;.)\\", rune(text[end-1])) {
			end-- // the text goes on
		}
		b.WriteString(maskURL(text[start[0]:end]))
	}
	b.WriteString(maskBare(text[end:]))
	return b.String()
}

// maskBare hides the password in a text without URLs. The path of an SQLite file may look like one.
func maskBare(text string) string {
	return bareUser.ReplaceAllStringFunc(text, func(found string) string {
		user, _, _ := strings.Cut(found, ":")
		if user == "sqlite" {
			return found
		}
		return user + ":" + cut + "@"
	})
}

// maskURL hides the password and the keys of one URL.
func maskURL(text string) string {
	if !strings.ContainsAny(text, "@?#") {
		return text
	}
	u, err := url.Parse(text)
	if err != nil {
		return hidden
	}
	scheme, rest, _ := strings.Cut(text, "://")
	authority, path := rest, ""
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		authority, path = rest[:n], rest[n:]
	}
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, _, hasPassword := strings.Cut(authority[:at], ":")
		switch {
		case hasPassword:
			user += ":" + cut
		case user != "" && !strings.HasPrefix(u.Scheme, "postgres"): // a token in place of a user
			user = cut
		}
		authority = user + authority[at:]
	} else if strings.Contains(authority, ":") && strings.Contains(path, "@") {
		return hidden // a password with a slash in it is read as a port and a path
	}
	path, fragment, hasFragment := strings.Cut(path, "#")
	path, query, hasQuery := strings.Cut(path, "?")
	if hasQuery {
		path += "?" + maskParameters(query)
	}
	if hasFragment {
		path += "#" + maskParameters(fragment)
	}
	return scheme + "://" + authority + path
}

// secretNames are parts of the names of parameters that hold a secret.
var secretNames = []string{"pass", "pwd", "key", "token", "secret", "sig", "auth", "cred"}

var separators = regexp.MustCompile(`[&;]`)

// maskParameters hides the values of a query's parameters whose names say that they are secret.
func maskParameters(query string) string {
	var b strings.Builder
	at := 0
	for _, next := range append(separators.FindAllStringIndex(query, -1), []int{len(query), len(query)}) {
		name, value, hasValue := strings.Cut(query[at:next[0]], "=")
		if hasValue && value != "" && namesSecret(name) {
			value = cut
		}
		b.WriteString(name)
		if hasValue {
			b.WriteString("=" + value)
		}
		b.WriteString(query[next[0]:next[1]])
		at = next[1]
	}
	return b.String()
}

// maskPairs does the same for key=value,key=value.
func maskPairs(text string) string {
	pairs := strings.Split(text, ",")
	for i, pair := range pairs {
		pairs[i] = maskParameters(pair)
	}
	return strings.Join(pairs, ",")
}

func namesSecret(name string) bool {
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	name = strings.ToLower(name)
	for _, part := range secretNames {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
