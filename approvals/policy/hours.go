package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

const hoursExample = "{zone: Europe/Berlin, days: [mon-fri], from: 09:00, to: 17:30}"

// hours reads working hours. Without days they are from Monday to Friday.
func (r *reader) hours(n *yaml.Node) core.Hours {
	parts := r.Values(n, "hours", "zone", "days", "from", "to")
	if n.Kind != yaml.MappingNode {
		return core.Hours{}
	}
	for _, key := range []string{"zone", "from", "to"} {
		if parts[key] == nil {
			r.Fault(n, "write it like hours: "+hoursExample, "hours has no %s", key)
			return core.Hours{}
		}
	}
	h := core.Hours{Days: []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}}
	if zone, ok := r.Text(parts["zone"], "zone", "Europe/Berlin"); ok {
		if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
			r.Fault(parts["zone"], "write the name of a time zone, such as Europe/Berlin or UTC",
				"unknown time zone %s", strictyaml.Quoted(zone))
		}
		h.Zone = zone
	}
	if v := parts["days"]; v != nil {
		h.Days = r.days(v)
	}
	h.From, h.To = r.clock(parts["from"], "from"), r.clock(parts["to"], "to")
	if h.From >= h.To && h.From >= 0 && h.To >= 0 {
		r.Fault(parts["to"], "write a time after from; 24:00 is the end of the day",
			"to is %s, and from is %s", strictyaml.Shown(parts["to"]), strictyaml.Shown(parts["from"]))
	}
	return h
}

// days reads names of days of the week, and ranges of them.
func (r *reader) days(v *yaml.Node) (all []time.Weekday) {
	items := []*yaml.Node{v}
	if v.Kind != yaml.ScalarNode {
		items = r.List(v, "days", "[mon, tue, fri-sun]")
	}
	for _, item := range items {
		text, ok := r.Text(item, "a day", "mon")
		first, last, isRange := strings.Cut(text, "-")
		from, known := weekday(first)
		to, knownToo := from, true
		if isRange {
			to, knownToo = weekday(last)
		}
		if !ok {
			continue
		}
		if !known || !knownToo {
			r.Fault(item, "use mon, tue, wed, thu, fri, sat and sun, or a range such as mon-fri",
				"unknown day %s", strictyaml.Quoted(text))
			continue
		}
		for day := from; ; day = (day + 1) % 7 {
			if !slices.Contains(all, day) {
				all = append(all, day)
			}
			if day == to {
				break
			}
		}
	}
	slices.Sort(all)
	return all
}

// weekday reads the name of a day, or the beginning of at least three letters.
func weekday(text string) (time.Weekday, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	for day := time.Sunday; day <= time.Saturday; day++ {
		if len(text) >= 3 && strings.HasPrefix(strings.ToLower(day.String()), text) {
			return day, true
		}
	}
	return 0, false
}

// clock reads a time of the day, as minutes after midnight; -1 after a fault.
func (r *reader) clock(v *yaml.Node, what string) int {
	at, err := time.Parse("15:04", v.Value)
	if err != nil {
		at, err = time.Parse("15", v.Value)
	}
	switch {
	case v.Kind == yaml.ScalarNode && v.Value == "24:00":
		return 24 * 60
	case v.Kind != yaml.ScalarNode || err != nil:
		r.Fault(v, "write it like 09:00", "%s is %s, which is no time of day", what, strictyaml.Shown(v))
		return -1
	}
	return at.Hour()*60 + at.Minute()
}

// WrittenHours are working hours as people read them; "" for none.
func WrittenHours(h core.Hours) string {
	if len(h.Days) == 0 {
		return ""
	}
	days := make([]string, len(h.Days))
	for i, day := range h.Days {
		days[i] = day.String()[:3]
	}
	return fmt.Sprintf("%s %s-%s %s", strings.Join(days, ", "), shownClock(h.From), shownClock(h.To), h.Zone)
}

func shownClock(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }
