// Package preview draws the JSON of messages and forms as the platforms show them, in HTML, so that a person can look
// at every kind of card and reply without an account. It is used by tests and knows only what gatehouse sends. What it
// can't draw becomes a red box, and is reported: nothing is missing silently.
//
// The test of this package draws all golden files of the platforms. With GATEHOUSE_PREVIEW=DIR it writes a page for
// each platform, light and dark, into that directory.
package preview

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// Now is the time at which the previews are looked at: relative times, such as “in an hour”, refer to it.
var Now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Drawing is what people get of a file.
type Drawing struct {
	Name    string        // of the file; for Page
	HTML    template.HTML // what they see
	Aloud   string        // what a screen reader reads
	Unknown []string      // what could not be drawn: the components and fields that are not known
}

var (
	//go:embed page.html
	page string
	//go:embed style.css
	style string
)

// Page writes a page with drawings below each other. platform is slack or discord, theme is light or dark.
func Page(w io.Writer, platform, theme string, all []Drawing) error {
	return newDrawer(nil).ExecuteTemplate(w,
		"page", map[string]any{"Class": platform + " " + theme, "Style": template.CSS(style), "All": all})
}

// object is an object of JSON. Its numbers are json.Numbers.
type object = map[string]any

// drawer draws one file.
type drawer struct {
	fields  map[string]string // by the type of a component: the fields that it may have
	unknown []string
}

// newDrawer returns the templates, whose functions report to d.
func newDrawer(d *drawer) *template.Template {
	if d == nil {
		d = &drawer{}
	}
	return template.Must(template.New("").Funcs(template.FuncMap{
		"strange": d.strange, "unknown": d.isUnknown, "classes": classes, "colour": colour, "emoji": emoji,
		"clock": slackTime, "has": func(v any) bool {
			return !isEmpty(v)
		},
		"discord": func(s any) template.HTML {
			return discordText.html(fmt.Sprint(s))
		}, "markdown": func(s any) template.HTML {
			return slackMarkdown.html(fmt.Sprint(s))
		},
		"mrkdwn": func(s any) template.HTML { return slackMrkdwn.html(fmt.Sprint(s)) },
	}).Parse(page))
}

// draw draws a value with a template.
func (d *drawer) draw(name string, v any) (template.HTML, error) {
	var b bytes.Buffer
	err := newDrawer(d).ExecuteTemplate(&b, name, v)
	return template.HTML(b.String()), err
}

// isUnknown records a component of a type that can't be drawn, and returns its name.
func (d *drawer) isUnknown(v any) string {
	o, _ := v.(object)
	name := fmt.Sprint("type ", o["type"])
	d.unknown = append(d.unknown, name)
	return name
}

// strange records and returns the fields of a component that are not drawn. kind is its type where it names none
// itself.
func (d *drawer) strange(v any, kind ...string) []string {
	o, _ := v.(object)
	name := cmp.Or(strings.Join(kind, ""), fmt.Sprint(o["type"]))
	var found []string
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if !slices.Contains(strings.Fields("type id block_id "+d.fields[name]), key) && !isEmpty(o[key]) {
			found = append(found, name+"."+key)
		}
	}
	d.unknown = append(d.unknown, found...)
	return found
}

// isEmpty reports whether a value of JSON says nothing.
func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case bool:
		return !v
	case json.Number:
		return v == "0"
	case []any:
		return len(v) == 0
	case object:
		return len(v) == 0
	}
	return false
}

// messages reads a file: one message or form, or several.
func messages(data []byte) ([]object, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("reading a message: %w", err)
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var all []object
	for _, one := range list {
		o, ok := one.(object)
		if !ok {
			return nil, fmt.Errorf("reading a message: it is a %T", one)
		}
		all = append(all, o)
	}
	return all, nil
}

// lower returns an object with its keys in lower case: the golden files have the names of our structs, such as Text and
// Foot (the line beside a coloured edge), the platforms' JSON has others.
func lower(o object) object {
	all := object{}
	for key, v := range o {
		all[strings.ToLower(key)] = v
	}
	return all
}

// listOf returns a value as a list, nil if it is none.
func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// lines joins texts that are read one after the other.
func lines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }), "\n")
}
