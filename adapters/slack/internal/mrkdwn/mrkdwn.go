// Package mrkdwn reads and writes mrkdwn, the markup of Slack's messages. "<@U1|ann> sent &lt;b&gt;" is
// "@Ann sent <b>": a person is a token between angle brackets, and three characters are escaped as in HTML.
package mrkdwn

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Plain converts a person's text in Slack's mrkdwn to plain text for the agent: Slack's tokens become what the
// person saw, and its three entities are decoded, once. names are those that are known of people, channels and user
// groups, by their ids.
func Plain(text string, names map[string]string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\ufffd"), "\x00", "\ufffd")
	return Tokens.ReplaceAllStringFunc(text, func(part string) string {
		if inside, ends := strings.CutSuffix(part, ">"); ends && part[0] == '<' {
			return tokenText(inside[1:], names)
		}
		return Unescape(part)
	})
}

// Tokens matches Slack's tokens, and what is between them. A < that a person typed arrives as &lt;.
var Tokens = regexp.MustCompile(`<[^<>\n]*>|[^<]+|<`)

// tokenText returns the inside of <…> as people see it.
func tokenText(inside string, names map[string]string) string {
	what, label, _ := strings.Cut(inside, "|")
	label = Unescape(label)
	if group, ok := strings.CutPrefix(what, "!subteam^"); ok {
		what = "@" + group
	}
	switch {
	case strings.HasPrefix(what, "@"), strings.HasPrefix(what, "#"):
		id := what[1:]
		return what[:1] + cmp.Or(strings.TrimLeft(names[id], "@#"), strings.TrimLeft(label, "@#"), id)
	case what == "!here", what == "!channel", what == "!everyone":
		return "@" + what[1:]
	case strings.HasPrefix(what, "!"):
		return cmp.Or(label, dateOf(what), "<"+Unescape(what)+">")
	}
	return linkText(Unescape(what), label)
}

// dateOf is the time of a date token, "" for any other.
func dateOf(what string) string {
	stamp, isDate := strings.CutPrefix(what, "!date^")
	stamp, _, _ = strings.Cut(stamp, "^")
	at := Time(json.RawMessage(stamp))
	if !isDate || at.IsZero() {
		return ""
	}
	return at.UTC().Format("2006-01-02 15:04 MST")
}

// linkText returns a link as text: its label and, if the label does not show it, its address.
func linkText(address, label string) string {
	bare := func(s string) string {
		for _, scheme := range []string{"https://", "http://", "mailto:", "tel:"} {
			s = strings.TrimPrefix(s, scheme)
		}
		return strings.TrimSuffix(s, "/")
	}
	switch {
	case label == "", label == address:
		return address
	case bare(label) == bare(address):
		if strings.HasPrefix(address, "http") {
			return address
		}
		return label
	}
	return label + " (" + address + ")"
}

// Time is the time of a timestamp, which Slack writes as a string or as a number.
func Time(ts json.RawMessage) time.Time {
	seconds, _, _ := strings.Cut(strings.Trim(string(ts), `"`), ".")
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || n <= 0 || n > maxSeconds {
		return time.Time{}
	}
	return time.Unix(n, 0)
}

// maxSeconds is the last second of the year 9999.
const maxSeconds = 253402300799
