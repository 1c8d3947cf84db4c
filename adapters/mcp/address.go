package mcp

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"gatehouse/core/mask"
)

// address is what must be hidden of an endpoint's URL.
type address struct {
	secrets []string          // hidden in every text: values of the query, user and password, parts of the path that are no plain word
	texts   *strings.Replacer // for errors: the URL becomes its host, each longer part of the path dots
}

// addressOf takes a URL to pieces. It is empty if there is none.
func addressOf(raw string) address {
	if raw == "" {
		return address{texts: strings.NewReplacer()}
	}
	u, err := url.Parse(raw)
	if err != nil {
		return address{texts: strings.NewReplacer(raw, mask.Mark)}
	}
	values := []string{u.User.Username()}
	if password, ok := u.User.Password(); ok {
		values = append(values, password)
	}
	for pair := range strings.FieldsFuncSeq(u.RawQuery, func(r rune) bool { return r == '&' || r == ';' }) {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			value = name // the whole query is one value
		}
		values = append(values, value)
	}
	var secrets []string
	for _, value := range values {
		secrets = append(secrets, forms(value)...)
	}
	whole := []string{raw, u.String(), u.Redacted()}
	if u.RawQuery != "" {
		whole = append(whole, u.RequestURI())
	}
	dotted := slices.Clone(secrets)
	for step := range strings.SplitSeq(u.EscapedPath(), "/") {
		dotted = append(dotted, forms(step)...)
		if strings.ContainsAny(step, "0123456789%=") || len(step) >= longStep {
			secrets = append(secrets, forms(step)...)
		}
	}
	var pairs [][2]string
	for _, text := range whole {
		pairs = append(pairs, [2]string{text, u.Host})
	}
	for _, text := range dotted {
		if len(text) >= minSecret {
			pairs = append(pairs, [2]string{text, mask.Mark})
		}
	}
	slices.SortStableFunc(pairs, func(a, b [2]string) int { return len(b[0]) - len(a[0]) }) // one may be a part of another
	var flat []string
	for _, pair := range pairs {
		flat = append(flat, pair[0], pair[1])
	}
	return address{secrets: secrets, texts: strings.NewReplacer(flat...)}
}

// longStep is how long a part of a path is that is hidden in results too, although it may be a word.
const longStep = 20

// forms gives a value as it stands in a URL, decoded, and as programs encode it.
func forms(value string) []string {
	all := []string{value}
	for _, decode := range []func(string) (string, error){url.QueryUnescape, url.PathUnescape} {
		if plain, err := decode(value); err == nil {
			all = append(all, plain, url.QueryEscape(plain), url.PathEscape(plain))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hideError gives the text of an error for people: without the endpoint's URL, which net/http puts into its errors, and without secrets.
func (s *server) hideError(err error) string {
	text := err.Error()
	for at := err; ; {
		var failed *url.Error
		if !errors.As(at, &failed) {
			break
		}
		text = strings.ReplaceAll(text, failed.Error(), failed.Op+": "+failed.Err.Error())
		at = failed.Err
	}
	return s.hideReason(text)
}

// hideReason removes the endpoint's URL and secrets from a text that says why something failed.
func (s *server) hideReason(text string) string { return s.hide(s.address.texts.Replace(text)) }
