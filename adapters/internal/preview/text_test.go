package preview

import (
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// dialect is a kind of marked-up text. At each position its rules are tried in order; where none matches, the character
// is text.
type dialect struct {
	rules []rule
	shown func(string) string // what text is shown as
}

// rule draws what a text begins with, and returns the length of that, 0 if it does not match. atStart: the text begins
// a line.
type rule func(d *dialect, text string, atStart bool) (html string, n int)

// html draws a text.
func (d *dialect) html(text string) template.HTML {
	var b strings.Builder
	atStart := true
	for text != "" {
		html, n := "", 0
		for _, r := range d.rules {
			if html, n = r(d, text, atStart); n > 0 {
				break
			}
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(text)
			if strings.HasPrefix(text, "&") { // an entity stays together
				n = len(entity.FindString(text))
			}
			html = d.escape(text[:n])
		}
		b.WriteString(html)
		atStart = text[n-1] == '\n'
		text = text[n:]
	}
	return template.HTML(b.String())
}

var entity = regexp.MustCompile(`^&(?:lt;|gt;|amp;)?`)

func (d *dialect) escape(text string) string { return template.HTMLEscapeString(d.shown(text)) }

var tags = regexp.MustCompile(`<[^<>]*>`)

// plain returns the text as it is shown, without its marks.
func (d *dialect) plain(text string) string {
	html := strings.NewReplacer("</h4>", "\n", "</small>", "\n", "</pre>", "\n", "</blockquote>", "\n", "</li>", "\n",
		"</td>", " | ").Replace(string(d.html(text)))
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&amp;",
		"&").Replace(tags.ReplaceAllString(html, ""))
}

// match makes a rule of a pattern, which begins with ^, and a format. In the format a $1 is the first group, parsed
// again, and a $=1 the group as it is.
func match(pattern, format string) rule {
	return drawn(pattern, func(d *dialect, m []string) string {
		return group.ReplaceAllStringFunc(format, func(ref string) string {
			i, _ := strconv.Atoi(strings.Trim(ref, "$="))
			if strings.Contains(ref, "=") {
				return d.escape(m[i])
			}
			return string(d.html(m[i]))
		})
	})
}

var group = regexp.MustCompile(`\$=?\d`)

// drawn makes a rule of a pattern and a function.
func drawn(pattern string, draw func(d *dialect, m []string) string) rule {
	re := regexp.MustCompile(pattern)
	return func(d *dialect, text string, _ bool) (string, int) {
		if m := re.FindStringSubmatch(text); m != nil {
			return draw(d, m), len(m[0])
		}
		return "", 0
	}
}

// line makes a rule match only at the beginning of a line.
func line(r rule) rule {
	return func(d *dialect, text string, atStart bool) (string, int) {
		if !atStart {
			return "", 0
		}
		return r(d, text, atStart)
	}
}

// span is code between runs of backticks of the same length.
func span(d *dialect, text string, _ bool) (string, int) {
	run := len(text) - len(strings.TrimLeft(text, "`"))
	for at := run; run > 0 && at < len(text); at++ {
		if end := len(text[at:]) - len(strings.TrimLeft(text[at:], "`")); end == run {
			return "<code>" + d.escape(text[run:at]) + "</code>", at + run
		} else if end > 0 {
			at += end - 1
		}
	}
	return "", 0
}

// quoted makes a rule of a quotation's lines: its text is parsed again without the marks.
func quoted(pattern, mark string) rule {
	marks := regexp.MustCompile(`(?m)` + mark)
	return line(drawn(pattern, func(d *dialect, m []string) string {
		return "<blockquote>" + string(d.html(strings.TrimSuffix(marks.ReplaceAllString(m[0], ""), "\n"))) +
			"</blockquote>"
	}))
}

// item draws a line of a list.
func item(d *dialect, m []string) string {
	mark := "•"
	if strings.Trim(m[2], "*+-") != "" {
		mark = m[2]
	}
	return fmt.Sprintf(`<li class="in%d"><b>%s</b> %s</li>`, min(3, len(m[1])/2), template.HTMLEscapeString(mark),
		d.html(m[3]))
}

func same(s string) string { return s }

const (
	pill = `<span class="pill">$=1</span>`
	pre  = `<pre>$=2</pre>`
)

// discordText is the text of Discord's messages.
var discordText = &dialect{shown: same, rules: []rule{
	match("(?is)^```(?:([a-z0-9_+.#-]+?)\n)?\n*([^\n].*?)\n*```\n?", pre), span,
	line(match(`^#{1,3} +([^\n]+)(?:\n|$)`, `<h4>$1</h4>`)), line(match(`^-# +([^\n]+)(?:\n|$)`, `<small>$1</small>`)),
	quoted(`^ *>>> (?s:.*)`, `^ *>>> `), quoted(`^(?: *> [^\n]*(?:\n|$))+`, `^ *> `),
	line(drawn(`^( *)([-*]|\d+\.) +([^\n]+)(?:\n|$)`, item)),
	match(`^\\([^0-9A-Za-z\s])`, `$=1`), match(`^<([^: >]+:/[^ >]+)>`, `<a>$=1</a>`),
	match(`^(https?://[^\s<]+[^<.,:;"')\]\s])`, `<a>$=1</a>`),
	match(`^\[((?:\[[^\]]*\]|[^\[\]])+)\]\(\s*<?([^\s)>]+)>?[^)]*\)`, `<a class="hidden" title="$=2">$1</a>`),
	drawn(`^<t:(-?\d+)(?::([A-Za-z]))?>`, discordTime), match(`^<(@[!&]?\d+)>`, pill), match(`^<(#\d+)>`, pill),
	match(`^<a?(:\w+:)\d+>`, pill), match(`^<(/[^<>:]+):\d+>`, pill),
	match(`^<(id:[a-z-]+)[^>]*>`, pill), match(`^(@everyone|@here)`, pill),
	match(`^\|\|((?s:.)+?)\|\|`, `<span class="spoiler">$1</span>`),
	match(`^\*\*((?:\\(?s:.)|[^\\])+?)\*\*`, `<b>$1</b>`), match(`^__((?s:.)+?)__`, `<u>$1</u>`),
	match(`^~~((?s:.)+?)~~`, `<s>$1</s>`),
	match(`^\*([^\s*][^*]*)\*`, `<i>$1</i>`), match(`^_([^_\n]+)_\b`, `<i>$1</i>`),
}}

// slackTokens are Slack's tokens, links and emojis, which every text of Slack's has that is not plain.
var slackTokens = []rule{
	match(`^<(@[A-Z0-9]+)(?:\|[^<>]*)?>`, pill),
	match(`^<!(?:subteam\^)?([A-Z0-9]+|here|channel|everyone)(?:\|[^<>]*)?>`, `<span class="pill">@$=1</span>`),
	match(`^<(#[A-Z0-9]+)(?:\|[^<>]*)?>`, pill),
	drawn(`^<!date\^(\d+)\^([^<>|^]*)(?:\^[^<>|]*)?(?:\|[^<>]*)?>`, func(_ *dialect, m []string) string {
		return template.HTMLEscapeString(slackDate(m[1], m[2]))
	}),
	match(`^<([a-z]+:[^<>|]+)\|([^<>]+)>`, `<a class="hidden" title="$=1">$=2</a>`),
	match(`^<([a-z]+:[^<>|]+)>`, `<a>$=1</a>`), match(`^(https?://[^\s<>|)]+[^\s<>|).,;:!?])`, `<a>$=1</a>`),
	drawn(`^:([a-z0-9_+-]+):`, func(_ *dialect, m []string) string {
		return template.HTMLEscapeString(shortcode(m[1]))
	}),
}

// slackMarkdown is the text of a markdown block.
var slackMarkdown = &dialect{shown: unescape.Replace, rules: append([]rule{
	line(match("(?s)^(?:```|~~~)([^\n`]*)\n(.*?)\n?(?:```|~~~)(?:\n|$)", pre)), span, match("^(`+)", "$=1"),
	line(match(`^#{1,6} +([^\n]+)(?:\n|$)`, `<h4>$1</h4>`)), line(match(`^(?:---+|\*\*\*+|___+)(?:\n|$)`, `<hr>`)),
	quoted(`^(?: *>[^\n]*(?:\n|$))+`, `^ *> ?`),
	line(drawn(`^( *)([-*+]|\d+[.)]) +([^\n]+)(?:\n|$)`, item)),
	line(drawn(`^(\|[^\n]+\n\|[-| :]+\n(?:\|[^\n]+(?:\n|$))*)`, table)),
	match(`^\\([!-/:-@\[-`+"`"+`{-~])`, `$=1`),
	match(`^!?\[((?:\[[^\]]*\]|[^\[\]])+)\]\(\s*([^\s)]+)[^)]*\)`, `<a class="hidden" title="$=2">$1</a>`),
	match(`^\*\*((?s:.)+?)\*\*`, `<b>$1</b>`), match(`^~~((?s:.)+?)~~`, `<s>$1</s>`),
	match(`^\*([^\s*][^*]*)\*`, `<i>$1</i>`), match(`^_([^_\n]+)_\b`, `<i>$1</i>`),
}, slackTokens...)}

// slackMrkdwn is the text of an object of the type mrkdwn.
var slackMrkdwn = &dialect{shown: unescape.Replace, rules: append([]rule{
	match("(?s)^```()\n?(.*?)\n?```\n?", pre), match("^`([^`\n]+)`", `<code>$=1</code>`),
	quoted(`^(?:(?:>|&gt;)[^\n]*(?:\n|$))+`, `^(?:>|&gt;) ?`),
	match(`^\*([^\s*](?:[^*\n]*[^\s*])?)\*`, `<b>$1</b>`), match(`^_([^\s_](?:[^_\n]*[^\s_])?)_`, `<i>$1</i>`),
	match(`^~([^\s~](?:[^~\n]*[^\s~])?)~`, `<s>$1</s>`),
}, slackTokens...)}

// table draws a table: a line with its head, a line of dashes, and rows.
func table(d *dialect, m []string) string {
	var b strings.Builder
	b.WriteString("<table>")
	for i, row := range strings.Split(strings.TrimSpace(m[1]), "\n") {
		if i == 1 {
			continue
		}
		b.WriteString("<tr>")
		for _, cell := range strings.Split(strings.Trim(row, "|"), "|") {
			b.WriteString("<td>" + string(d.html(strings.TrimSpace(cell))) + "</td>")
		}
		b.WriteString("</tr>")
	}
	return b.String() + "</table>"
}

// discordTime draws a time as Discord does for a reader in UTC.
func discordTime(_ *dialect, m []string) string {
	n, err := json.Number(m[1]).Int64()
	if err != nil {
		return template.HTMLEscapeString(m[0])
	}
	t := time.Unix(n, 0).UTC()
	layouts := map[string]string{
		"t": "3:04 PM", "T": "3:04:05 PM", "d": "1/2/2006", "D": "January 2, 2006", "f": "January 2, 2006 3:04 PM",
		"": "January 2, 2006 3:04 PM", "F": "Monday, January 2, 2006 3:04 PM",
	}
	text := ago(t)
	if m[2] != "R" {
		text = t.Format(layouts[m[2]])
	}
	return `<span class="time">` + template.HTMLEscapeString(text) + "</span>"
}
