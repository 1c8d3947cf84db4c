package web

import (
	"net/url"
	"strings"
	"unicode"

	"gatehouse/adapters/internal/markup"
	"gatehouse/core"
)

// filter narrows the page of approvals, by the parameters of its address.
type filter struct {
	Show   string // one of shows
	Text   string // is in what is asked, or in the message that it is about
	By     string // is in the name or the id of who asked
	Tool   string // is in the tool's name
	Before core.ApprovalID
}

// shows are what the page shows: all groups, one of them, or what the reader has asked for; and how that is called.
var shows = []struct{ name, title string }{
	{"", "All"}, {"mine", "For you"}, {"others", "For others"}, {"asked", "Asked by you"}, {"decided", "Decided"},
}

// maxFilter is the longest text of a filter, in bytes.
const maxFilter = 200

// filterOf reads a filter. What it does not know counts as not given.
func filterOf(q url.Values) filter {
	text := func(name string) string {
		typed := strings.TrimSpace(q.Get(name))
		return strings.ToValidUTF8(typed[:min(len(typed), maxFilter)], "")
	}
	f := filter{
		Text: text("q"), By: text("by"), Tool: text("tool"),
		Before: core.ApprovalID(q.Get("before")),
	}
	for _, s := range shows {
		if s.name == q.Get("show") {
			f.Show = s.name
		}
	}
	return f
}

// show leads to what the page may show.
type show struct {
	Title, Page string
	Now         bool
}

// Shows are what the page may show, with what was typed.
func (f filter) Shows() (all []show) {
	for _, s := range shows {
		all = append(all, show{s.title, f.address(s.name, ""), s.name == f.Show})
	}
	return all
}

// Whole is the address of what the page shows, without what was typed.
func (f filter) Whole() string { return filter{}.address(f.Show, "") }

// Narrows reports whether something is left out by what was typed.
func (f filter) Narrows() bool { return f.Text != "" || f.By != "" || f.Tool != "" }

// address is that of a page with this filter, of one group, with those before an approval.
func (f filter) address(show string, before core.ApprovalID) string {
	q := url.Values{}
	parts := map[string]string{
		"show": show, "q": f.Text, "by": f.By, "tool": f.Tool, "before": string(before),
	}
	for name, value := range parts {
		if value != "" {
			q.Set(name, value)
		}
	}
	if len(q) == 0 {
		return "/approvals"
	}
	return "/approvals?" + q.Encode()
}

// words are what the database looks for: it sees more than the reader may, so fits has the last word.
func (f filter) words() (all []string) {
	for _, typed := range []string{f.Text, f.By, f.Tool} {
		longest := ""
		for _, run := range strings.FieldsFunc(strings.ToLower(typed), func(c rune) bool {
			return c > unicode.MaxASCII || c < ' ' || strings.ContainsRune(`"\`, c) // what JSON may write otherwise
		}) {
			if len(run) > len(longest) {
				longest = run
			}
		}
		if longest != "" {
			all = append(all, longest)
		}
	}
	return all
}

// fits reports whether an approval is one that the filter leaves, by what the reader is shown of it.
func (f filter) fits(v *request, c core.Card) bool {
	if !f.Narrows() {
		return true
	}
	has := func(part string, texts ...string) bool {
		return strings.Contains(strings.ToLower(strings.Join(texts, "\n")), strings.ToLower(part))
	}
	return has(f.Text, markup.Text(v.view(c).Lead), c.Asked.Message, c.Tool) &&
		has(f.By, c.Requester, c.Requested.Name, c.Requested.ID) && has(f.Tool, c.Tool)
}
