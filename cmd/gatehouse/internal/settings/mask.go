package settings

import (
	"net/url"
	"regexp"
)

var passwordParam = regexp.MustCompile(`((?i:password|sslpassword)=)[^&\s]*`)

// hidden is what is shown of a secret.
const hidden = "••••••"

// Mask hides a secret: all of it, or the password of a URL. secret is the tag of that name.
func Mask(secret, value string) string {
	switch {
	case secret == "" || value == "":
		return value
	case secret != "url":
		return hidden
	}
	u, err := url.Parse(value)
	if err != nil {
		return hidden
	}
	return passwordParam.ReplaceAllString(u.Redacted(), "${1}xxxxx")
}
