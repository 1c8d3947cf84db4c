package slacktest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Args are the arguments of a call by name: a form's values, or a JSON body's with everything that is not a string as JSON.
type Args map[string]string

// maxBody is more than any call has.
const maxBody = 4 << 20

var errNotJSON = errors.New("not JSON")

// readArgs reads the arguments of a call, whatever way they are sent.
func readArgs(r *http.Request) (args Args, body []byte, err error) {
	args = Args{}
	take := func(values url.Values) {
		for key, all := range values {
			if len(all) > 0 {
				args[key] = all[0]
			}
		}
	}
	take(r.URL.Query())
	body, err = io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return nil, nil, err
	}
	kind := r.Header.Get("Content-Type")
	switch {
	case strings.HasPrefix(kind, "application/json"):
		if len(body) == 0 {
			return args, body, nil
		}
		var fields map[string]json.RawMessage
		if json.Unmarshal(body, &fields) != nil {
			return args, body, errNotJSON
		}
		for key, raw := range fields {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				text = string(raw)
			}
			args[key] = text
		}
	case strings.HasPrefix(kind, "multipart/form-data"):
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if err := r.ParseMultipartForm(maxBody); err != nil {
			return args, body, err
		}
		take(r.MultipartForm.Value)
	default:
		values, err := url.ParseQuery(string(body))
		if err != nil {
			return args, body, err
		}
		take(values)
	}
	return args, body, nil
}

// flag reads a flag: Slack takes true and 1.
func (a Args) flag(key string) bool { return a[key] == "true" || a[key] == "1" }
