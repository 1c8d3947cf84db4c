package slacktest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// What an argument of a call is, where it is not a text: a call has them all as texts.
var (
	jsonArguments = []string{"attachments", "blocks", "files", "metadata", "prompts", "view"}
	flagArguments = []string{
		"as_user", "delete_original", "exclude_archived", "include_all_metadata", "include_locale",
		"include_num_members", "inclusive",
		"link_names", "mrkdwn", "reply_broadcast", "replace_original", "return_im", "unfurl_links", "unfurl_media",
	}
	numberArguments = []string{"length", "limit"}
)

// literal is an argument as TypeScript has it.
func literal(key, value string) string {
	switch {
	case slices.Contains(jsonArguments, key) && json.Valid([]byte(value)), slices.Contains(numberArguments, key):
		return value
	case slices.Contains(flagArguments, key):
		return map[string]string{"1": "true", "0": "false"}[value] + strings.Trim(value, "01")
	}
	return quote(value)
}

// quote writes a text as TypeScript.
func quote(text string) string {
	quoted, _ := json.Marshal(text) // can't fail: it is a text
	return string(quoted)
}

// object writes arguments as TypeScript, without the token.
func (a Args) object() string {
	var fields []string
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if key != "token" {
			fields = append(fields, quote(key)+": "+literal(key, a[key]))
		}
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

// typeOf is the name that Slack's SDK gives to the arguments of a method.
func typeOf(method string) string {
	var name strings.Builder
	for step := range strings.SplitSeq(method, ".") {
		name.WriteString(strings.ToUpper(step[:1]) + step[1:])
	}
	return "api." + name.String() + "Arguments"
}

// call adds the constants of a call.
func (f *typed) call(c Call) {
	kind := typeOf(c.Method)
	if c.Method == DialSocket || c.Method == DownloadFile {
		return
	}
	f.add(c.Method, kind, c.Args.object())
	f.parts(c.Method, c.Args)
}

// parts adds the constants of what Slack's types leave open in a message or a view.
func (f *typed) parts(of string, parts map[string]string) {
	if blocks := parts["blocks"]; blocks != "" {
		f.add(of, "Blocks", blocks)
	}
	if attachments := parts["attachments"]; attachments != "" {
		f.add(of, "Attachment[]", attachments)
	}
	if metadata := parts["metadata"]; metadata != "" {
		f.add(of, "MessageMetadata", metadata)
	}
	if view := parts["view"]; view != "" {
		kind := "Modal"
		if strings.Contains(view, `"type":"home"`) {
			kind = "Home"
		}
		f.add(of, kind, view)
	}
}

// answer adds what the app answered to a form that was sent, if it says more than that it has it.
func (f *typed) answer(d *Delivery, answer []byte) {
	if answer = bytes.TrimSpace(answer); len(answer) == 0 || !json.Valid(answer) || string(answer) == "{}" ||
		string(answer) == "null" {
		return
	}
	switch {
	case d.Type == "view_submission":
		f.add(d.Type, "FormAnswer", string(answer))
	case d.Kind == Commands:
		f.add(d.Type, "Response", string(answer))
	}
}
