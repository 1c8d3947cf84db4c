package core

import (
	"slices"
	"time"
)

// Hours are working hours: From until To, in minutes after midnight, on these days of a time zone.
type Hours struct {
	Zone string         `json:"zone"` // such as Europe/Berlin
	Days []time.Weekday `json:"days"`
	From int            `json:"from"`
	To   int            `json:"to"` // not included; 1440 is midnight
}

// Next is a moment, if it is in working hours, and otherwise the next one that is: they begin when the clocks of the
// zone show From, whether these were changed meanwhile or not. Without days, or where the zone is not known, it is the
// moment itself.
func (h Hours) Next(at time.Time) time.Time {
	zone, err := time.LoadLocation(h.Zone)
	if err != nil {
		return at
	}
	year, month, day := at.In(zone).Date()
	for n := range 8 {
		from := time.Date(year, month, day+n, 0, h.From, 0, 0, zone)
		to := time.Date(year, month, day+n, 0, h.To, 0, 0, zone)
		if slices.Contains(h.Days, time.Date(year, month, day+n, 12, 0, 0, 0, zone).Weekday()) && at.Before(to) {
			if at.After(from) {
				return at
			}
			return from
		}
	}
	return at
}
