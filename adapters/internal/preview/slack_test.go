package preview

import (
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// slackFields are the fields of Slack's blocks, elements and objects that are drawn, and those that nobody sees.
var slackFields = map[string]string{
	"modal":   "title blocks close submit private_metadata callback_id clear_on_close notify_on_close external_id",
	"message": "text blocks attachments color foot", "attachment": "color blocks fallback",
	"rich_text": "elements", "markdown": "text", "section": "text fields expand", "header": "text",
	"context": "elements", "divider": "", "actions": "elements",
	"input":             "label element hint optional dispatch_action",
	"rich_text_section": "elements", "rich_text_preformatted": "elements border language",
	"rich_text_quote": "elements border", "rich_text_list": "elements style indent offset border",
	"text": "text style", "link": "url text style", "user": "user_id style", "usergroup": "usergroup_id style",
	"emoji": "name unicode style", "date": "timestamp format url fallback style",
	"plain_text": "text emoji", "mrkdwn": "text verbatim",
	"button": "text action_id url value style confirm accessibility_label", "confirm": "title text confirm deny style",
	"plain_text_input": "action_id placeholder initial_value multiline min_length max_length focus_on_load",
	"number_input":     "action_id placeholder initial_value is_decimal_allowed min_value max_value focus_on_load",
	"static_select":    "action_id placeholder options initial_option focus_on_load",
	"radio_buttons":    "action_id options initial_option focus_on_load", "option": "text value",
}

// Slack draws a file with messages or a modal of Slack.
func Slack(data []byte) (Drawing, error) {
	all, err := messages(data)
	if err != nil {
		return Drawing{}, err
	}
	d := &drawer{fields: slackFields}
	var drawn Drawing
	for _, o := range all {
		name := "slack-modal"
		if o["type"] == nil {
			name, o = "slack-message", lower(o)
			drawn.Aloud = lines(drawn.Aloud, unescape.Replace(fmt.Sprint(o["text"])))
		}
		html, err := d.draw(name, o)
		if err != nil {
			return Drawing{}, err
		}
		drawn.HTML += html
	}
	drawn.Unknown = d.unknown
	return drawn, nil
}

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// classes returns the styles of a piece of rich text.
func classes(style any) string {
	var all []string
	o, _ := style.(object)
	for _, name := range []string{"bold", "italic", "strike", "underline", "code"} {
		if o[name] == true {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

var hex = regexp.MustCompile(`^#?([0-9a-fA-F]{6})$`)

// colour returns a colour for CSS: of Slack's names and digits, or of Discord's number.
func colour(v any) template.CSS {
	if n, ok := v.(json.Number); ok {
		i, _ := n.Int64()
		return template.CSS(fmt.Sprintf("#%06x", i&0xffffff))
	}
	named := map[string]string{"good": "#2eb886", "warning": "#daa038", "danger": "#a30200"}
	text, _ := v.(string)
	if m := hex.FindStringSubmatch(text); m != nil {
		return template.CSS("#" + m[1])
	}
	return template.CSS(named[text] + "")
}

// emoji returns an emoji of rich text: its characters if it has them, else its name.
func emoji(v any) string {
	o, _ := v.(object)
	var b strings.Builder
	points, _ := o["unicode"].(string)
	for _, point := range strings.Split(points, "-") {
		if n, err := strconv.ParseInt(point, 16, 32); err == nil {
			b.WriteRune(rune(n))
		}
	}
	if b.Len() == 0 {
		return shortcode(fmt.Sprint(o["name"]))
	}
	return b.String()
}

// shortcode returns the emoji of a name. Only those are known that a card may have.
func shortcode(name string) string {
	known := map[string]string{
		"warning": "⚠️", "white_check_mark": "✅", "heavy_check_mark": "✔️", "no_entry": "⛔", "no_entry_sign": "🚫",
		"x": "❌", "hourglass": "⌛", "hourglass_flowing_sand": "⏳", "lock": "🔒",
		"bell": "🔔", "wrench": "🔧", "question": "❓", "red_circle": "🔴", "large_green_circle": "🟢",
	}
	if e, ok := known[name]; ok {
		return e
	}
	return ":" + name + ":"
}

// slackTime formats a date element as Slack does for a reader in UTC.
func slackTime(v any) string {
	o, _ := v.(object)
	n, _ := o["timestamp"].(json.Number)
	return slackDate(string(n), fmt.Sprint(o["format"]))
}

func slackDate(timestamp, format string) string {
	n, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return "(not a time: " + timestamp + ")"
	}
	t := time.Unix(n, 0).UTC()
	pretty := func(layout string) string {
		if t.Format(time.DateOnly) == Now.Format(time.DateOnly) {
			return "Today"
		}
		return t.Format(layout)
	}
	return strings.NewReplacer(
		"{date_num}", t.Format(time.DateOnly), "{date}", t.Format("January 2, 2006"),
		"{date_short}", t.Format("Jan 2, 2006"), "{date_long}", t.Format("Monday, January 2, 2006"),
		"{date_pretty}", pretty("January 2, 2006"), "{date_short_pretty}", pretty("Jan 2, 2006"),
		"{date_long_pretty}", pretty("Monday, January 2, 2006"),
		"{time}", t.Format("3:04 PM"), "{time_secs}", t.Format("3:04:05 PM"), "{ago}", ago(t),
	).Replace(format)
}

// ago returns a time relative to Now.
func ago(t time.Time) string {
	d := t.Sub(Now)
	text := fmt.Sprintf("%d minutes", int(d.Abs().Minutes()))
	switch h := int(d.Abs().Hours()); {
	case h >= 48:
		text = fmt.Sprintf("%d days", h/24)
	case h >= 2:
		text = fmt.Sprintf("%d hours", h)
	case h == 1:
		text = "an hour"
	}
	if d < 0 {
		return text + " ago"
	}
	return "in " + text
}
