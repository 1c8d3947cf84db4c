package core_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatehouse/core"
)

// office is from nine to half past five from Monday to Friday, where the clocks change on 29 March and 25 October 2026,
// both Sundays.
var office = core.Hours{Zone: "Europe/Berlin", Days: []time.Weekday{1, 2, 3, 4, 5}, From: 9 * 60, To: 17*60 + 30}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	moment, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// What is due outside of working hours is due when they begin, also across a change of the clock.
func TestWorkingHours(t *testing.T) {
	for moment, want := range map[string]string{
		"2026-11-27 10:00": "2026-11-27 10:00", "2026-11-27 09:00": "2026-11-27 09:00",
		"2026-11-27 08:59": "2026-11-27 09:00", "2026-11-27 17:29": "2026-11-27 17:29",
		"2026-11-27 17:30": "2026-11-30 09:00", "2026-11-28 12:00": "2026-11-30 09:00",
		"2026-11-29 23:59": "2026-11-30 09:00", "2026-11-30 00:00": "2026-11-30 09:00",
		"2026-03-27 18:00": "2026-03-30 09:00", "2026-10-23 18:00": "2026-10-26 09:00",
		"2026-03-29 02:30": "2026-03-30 09:00", "2026-10-25 02:30": "2026-10-26 09:00",
		"2026-12-31 20:00": "2027-01-01 09:00",
	} {
		if got := office.Next(at(t, moment)); !got.Equal(at(t, want)) {
			t.Errorf("%s moves to %s, want %s", moment, got, want)
		}
	}
	// the hour that there is not in March, and twice in October
	night := core.Hours{Zone: "Europe/Berlin", Days: []time.Weekday{0}, From: 150, To: 24 * 60}
	for moment, want := range map[string]string{
		"2026-03-28 12:00": "2026-03-29 03:30", "2026-10-24 12:00": "2026-10-25 02:30",
	} {
		if got := night.Next(at(t, moment)); got.In(at(t, want).Location()).Format("2006-01-02 15:04") != want &&
			!got.Equal(at(t, want)) {
			t.Errorf("%s moves to %s, want %s", moment, got, want)
		}
	}
	for _, none := range []core.Hours{{}, {Zone: "Nowhere/Town", Days: []time.Weekday{1}, To: 5}} {
		if moment := at(t, "2026-11-28 12:00"); !none.Next(moment).Equal(moment) {
			t.Errorf("%+v moves it", none)
		}
	}
}

// TestHoursMoveWhatIsDueIntoThem: never back, never further than to the next beginning, and the deadline not at all.
func TestHoursMoveWhatIsDueIntoThem(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := core.Hours{
			Zone: rapid.SampledFrom(
				[]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"}).Draw(r,
				"zone"),
			Days: rapid.SliceOfNDistinct(rapid.Map(rapid.IntRange(0, 6), func(n int) time.Weekday {
				return time.Weekday(n)
			}), 1, 7, rapid.ID).Draw(r, "days"),
			From: rapid.IntRange(0, 1438).Draw(r, "from"),
		}
		h.To = rapid.IntRange(h.From+1, 1440).Draw(r, "to")
		zone, err := time.LoadLocation(h.Zone)
		if err != nil {
			r.Fatal(err)
		}
		in := func(moment time.Time) bool {
			local := moment.In(zone)
			minute := local.Hour()*60 + local.Minute()
			for _, day := range h.Days {
				if day == local.Weekday() && minute >= h.From && minute < h.To {
					return true
				}
			}
			return false
		}
		opened := noon.Add(time.Duration(rapid.IntRange(0, 400*24*60).Draw(r, "minutes")) * time.Minute)
		after := time.Duration(rapid.IntRange(1, 5000).Draw(r, "after")) * time.Minute
		moved := h.Next(opened.Add(after))
		if moved.Before(opened.Add(after)) || in(opened.Add(after)) && !moved.Equal(opened.Add(after)) {
			r.Fatalf("%s moves to %s", opened.Add(after), moved)
		}
		if !in(moved) && !in(moved.Add(time.Hour)) { // a beginning that a change of the clock leaps over
			r.Fatalf("%s is not in %+v", moved.In(zone), h)
		}
		for between := opened.Add(after); between.Before(moved); between = between.Add(7 * time.Minute) {
			if in(between) && moved.Sub(between) > 2*time.Hour {
				r.Fatalf("%s is moved to %s beyond %s", opened.Add(after), moved, between.In(zone))
			}
		}
		a := core.Approval{
			ID: "a", CreatedAt: opened,
			Rule: core.Rule{
				Remind: []time.Duration{after}, Escalate: core.Escalation{After: after, To: []string{"eve"}}, Hours: h,
			},
		}
		for _, task := range a.Tasks() {
			if !task.Due.Equal(moved) {
				r.Fatalf("%s is due at %s, want %s", task.Key, task.Due, moved)
			}
		}
		eve := core.Actor{ID: "eve"}
		if a.Rule.At(opened, moved.Add(-1)).MayDecide(eve, core.Actor{}) ||
			!a.Rule.At(opened, moved).MayDecide(eve, core.Actor{}) {
			r.Fatal("it is escalated at another time than its task")
		}
	})
}

// Reminders that working hours move to one moment are one, what they move beyond the deadline is none, and the deadline
// stays.
func TestHoursAndTheDeadline(t *testing.T) {
	friday := at(t, "2026-11-27 17:00")
	a := core.Approval{
		ID: "a", CreatedAt: friday,
		Rule: core.Rule{
			Remind:   []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour},
			Escalate: core.Escalation{After: 8 * time.Hour}, Hours: office,
		},
	}
	keys := func() (all []string) {
		for _, task := range a.Tasks() {
			all = append(all, task.Key+" "+task.Due.In(friday.Location()).Format("Mon 15:04"))
		}
		return all
	}
	if got := strings.Join(keys(), ", "); got != "remind/a/1 Fri 17:10, remind/a/3 Mon 09:00, escalate/a Mon 09:00" {
		t.Errorf("%s", got)
	}
	a.Deadline = friday.Add(24 * time.Hour)
	if got := strings.Join(keys(), ", "); got != "expire/a Sat 17:00, remind/a/1 Fri 17:10" {
		t.Errorf("%s", got)
	}
}

// A rule without hours is stored as before, so that what is stored keeps its digests.
func TestARuleWithoutHoursIsStoredAsBefore(t *testing.T) {
	text, err := json.Marshal(core.Rule{Name: "it", Verdict: core.VerdictAsk})
	if err != nil || string(text) != `{"name":"it","verdict":"ask"}` {
		t.Errorf("%s, %v", text, err)
	}
	text, err = json.Marshal(core.Rule{Name: "it", Verdict: core.VerdictAsk, Hours: office})
	if err != nil ||
		!strings.HasSuffix(string(text), `"hours":{"zone":"Europe/Berlin","days":[1,2,3,4,5],"from":540,"to":1050}}`) {
		t.Errorf("%s, %v", text, err)
	}
}
