package preview

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// discordFields are the fields of Discord's components that are drawn, and those that nobody sees.
var discordFields = map[string]string{
	"1": "components", "2": "style label emoji custom_id url disabled",
	"3": "custom_id placeholder min_values max_values options required disabled", "option": "label value default",
	"4": "custom_id style label min_length max_length required value placeholder", "9": "components accessory",
	"10": "content", "14": "divider spacing", "17": "components accent_color spoiler",
	"18": "label description component", "emoji": "name",
	"modal": "custom_id title components",
}

// Discord draws a file with messages or a modal of Discord.
func Discord(data []byte) (Drawing, error) {
	all, err := messages(data)
	if err != nil {
		return Drawing{}, err
	}
	d := &drawer{fields: discordFields}
	var drawn Drawing
	for _, o := range all {
		var html template.HTML
		if o["title"] != nil {
			drawn.Aloud = lines(drawn.Aloud, "Form: "+fmt.Sprint(o["title"]), discordAloud(o["components"]))
			html, err = d.draw("discord-modal", o)
		} else {
			var aloud string
			html, aloud, err = d.discordMessage(lower(o))
			drawn.Aloud = lines(drawn.Aloud, aloud)
		}
		if err != nil {
			return Drawing{}, err
		}
		drawn.HTML += html
	}
	drawn.Unknown = d.unknown
	return drawn, nil
}

// discordMessage draws a message: its text, then every list of components that it has, then its file.
func (d *drawer) discordMessage(o object) (template.HTML, string, error) {
	m := object{}
	var aloud []string
	var components []any
	for _, key := range slices.Sorted(maps.Keys(o)) {
		switch v := o[key].(type) {
		case string:
			switch key {
			case "text", "content":
				m["content"] = v
				aloud = append([]string{discordText.plain(v)}, aloud...)
			case "file", "body":
				m[key] = v
				if v != "" && key == "file" {
					aloud = append(aloud, "File: "+v)
				}
			case "nonce":
			default:
				m["strange"] = d.strange(object{key: v}, "message")
			}
		case []any:
			components = append(components, v...)
			aloud = append(aloud, discordAloud(v))
		}
	}
	m["components"] = components
	html, err := d.draw("discord-message", m)
	return html, lines(aloud...), err
}

// discordAloud returns the texts of components, in the order in which a screen reader reads them.
func discordAloud(v any) string {
	var all []string
	for _, c := range listOf(v) {
		o, _ := c.(object)
		kind, _ := o["type"].(json.Number)
		switch kind {
		case "10":
			all = append(all, discordText.plain(fmt.Sprint(o["content"])))
		case "18":
			all = append(all, text(o, "label"), text(o, "description"), discordAloud([]any{o["component"]}))
		case "4":
			all = append(all, "[Input] "+cmp.Or(text(o, "value"), text(o, "placeholder")))
		case "3":
			all = append(all, "[Menu] "+text(o, "placeholder"))
			for _, option := range listOf(o["options"]) {
				one, _ := option.(object)
				all = append(all, "• "+text(one, "label"))
			}
		case "2":
			emoji, _ := o["emoji"].(object)
			all = append(all, "[Button] "+strings.TrimSpace(text(emoji, "name")+" "+text(o, "label")))
		default:
			all = append(all, discordAloud(o["components"]))
			if o["accessory"] != nil {
				all = append(all, discordAloud([]any{o["accessory"]}))
			}
		}
	}
	return lines(all...)
}

// text returns a field of an object, "" if it is no text.
func text(o object, key string) string {
	s, _ := o[key].(string)
	return s
}
