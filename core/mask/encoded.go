package mask

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// minEncoded is how long a secret must be in base64 and hexadecimal to be looked for: what is shorter is in many texts.
const minEncoded = 8

var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// encoded gives a secret as it may stand in a text: as it is, as JSON, URLs and HTML write it, in base64, also within a
// longer text that is encoded, and in hexadecimal.
func encoded(secret string) []string {
	all := []string{secret, html.EscapeString(secret)}
	for range 2 { // JSON may be in JSON
		for _, text := range all {
			asJSON, _ := json.Marshal(text) // a text: can't fail
			for _, quoted := range []string{
				string(compact(text)), string(asJSON), strconv.Quote(text), strconv.QuoteToASCII(text),
			} {
				inner := quoted[1 : len(quoted)-1]
				all = append(all, inner, strings.ReplaceAll(inner, "/", `\/`))
			}
		}
		slices.Sort(all)
		all = slices.Compact(all)
	}
	for _, text := range []string{
		url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
	} {
		all = append(all, text, percent.ReplaceAllStringFunc(text, strings.ToLower))
	}
	inHex := hex.EncodeToString([]byte(secret))
	for _, text := range append(inBase64(secret), inHex, strings.ToUpper(inHex)) {
		if len(text) >= minEncoded {
			all = append(all, text, strings.NewReplacer("+", "-", "/", "_").Replace(text))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// inBase64 gives the base64 of a secret, and for each place that it may have in a longer text the characters that only
// it decides.
func inBase64(secret string) []string {
	all := []string{base64.StdEncoding.EncodeToString([]byte(secret))}
	for before, foreign := range []int{0, 2, 3} {
		text := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + secret))
		all = append(all, text[foreign:8*(before+len(secret))/6])
	}
	return all
}
