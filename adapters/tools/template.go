package tools

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core/strictjson"
	"gatehouse/core/tool"
)

// placeholder stands for a value by its name: {{amount}}.
var placeholder = regexp.MustCompile(`\{\{([^{}]*)\}\}`)

// placeholders are the names in a template, and whether all that looks like a placeholder is one.
func placeholders(template string) (names []string, ok bool) {
	for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
		names = append(names, strings.TrimSpace(m[1]))
	}
	rest := placeholder.ReplaceAllString(template, "")
	return names, !strings.Contains(rest, "{{") && !strings.Contains(rest, "}}") && !slices.Contains(names, "")
}

// fill puts values in place of a template's placeholders, once: what looks like a placeholder in a value stays as it
// is.
func fill(template string, value func(name string) string) string {
	return placeholder.ReplaceAllStringFunc(template, func(found string) string {
		return value(strings.TrimSpace(found[2 : len(found)-2]))
	})
}

// maxShown bounds one argument in a summary, and maxListed how many there are in one that has no template.
const (
	maxShown  = 200
	maxListed = 8
)

// summary is the sentence about a call for the approver. A tool without a template has one of its own.
func summary(name, template string) func(json.RawMessage) string {
	return func(args json.RawMessage) string {
		v, err := strictjson.Parse(args)
		if err != nil {
			return "Run " + name
		}
		if template != "" {
			return fill(template, func(name string) string { return shown(v.Get(name), args) })
		}
		var all []string
		for i, m := range v.Members {
			if i == maxListed {
				all = append(all, "…")
				break
			}
			all = append(all, m.Key+" "+shown(m.Value, args))
		}
		if len(all) == 0 {
			return "Run " + name
		}
		return "Run " + name + " with " + strings.Join(all, ", ")
	}
}

// says tells whether a template has every argument of a call as it is.
func says(template string) func(json.RawMessage) bool {
	named, _ := placeholders(template)
	var quoted []string
	for _, m := range inQuotes.FindAllStringSubmatch(template, -1) {
		quoted = append(quoted, strings.TrimSpace(m[1]))
	}
	return func(args json.RawMessage) bool {
		return !adjacent.MatchString(template) && tool.Says(args, named, quoted)
	}
}

// adjacent are two placeholders between which neither a space nor a quote stands: nobody can see where the first value
// ends.
var adjacent = regexp.MustCompile("\\}\\}[^\\s“”\"'`{}]*\\{\\{")

// inQuotes is a placeholder between quotes.
var inQuotes = regexp.MustCompile("[“\"'`]\\{\\{([^{}]*)\\}\\}[”\"'`]")

// shown is an argument on one line.
func shown(v *strictjson.Value, args json.RawMessage) string {
	if v == nil {
		return "(none)"
	}
	text := v.String
	if v.Kind != strictjson.String {
		text = string(v.Raw(args))
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if short := clip(text, maxShown); short != text {
		return short + "…"
	}
	return text
}
