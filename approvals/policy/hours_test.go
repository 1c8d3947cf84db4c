package policy_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// TestHours: days are names and ranges, without them they are from Monday to Friday, and the snapshot has them.
func TestHours(t *testing.T) {
	week := []time.Weekday{1, 2, 3, 4, 5}
	for hours, want := range map[string]core.Hours{
		"{zone: Europe/Berlin, days: [mon, tue, wed, thu, fri], from: 09:00, to: 17:30}": {
			Zone: "Europe/Berlin", Days: week, From: 540, To: 1050,
		},
		"{zone: UTC, days: mon-fri, from: '00:00', to: '24:00'}": {
			Zone: "UTC", Days: week, To: 1440,
		},
		"{zone: UTC, from: 9, to: 17}": {
			Zone: "UTC", Days: week, From: 540, To: 1020,
		},
		"{zone: UTC, from: 8:05, to: 8:06}": {
			Zone: "UTC", Days: week, From: 485, To: 486,
		},
		"{zone: America/New_York, days: [Saturday, Fri-Sun], from: 09:00, to: 10:00}": {
			Zone: "America/New_York", Days: []time.Weekday{0, 5, 6}, From: 540, To: 600,
		},
	} {
		p := parse(t, head+"  - {name: it, action: ask, approvers: [slack:U9], remind: [1h], hours: "+hours+"}\n",
			policy.Defaults{Platforms: known})
		if diff := cmp.Diff(want, p.Rule(core.Turn{Actor: actor("slack:U1")}, core.Call{}).Hours); diff != "" {
			t.Errorf("%s: %s", hours, diff)
		}
	}
	const good = "zone: UTC, from: 09:00, to: 17:00"
	for rest, want := range map[string]string{
		"remind: [1h], hours: {zone: UTC, from: 09:00}": "hours has no to; write it like hours: {zone: " +
			"Europe/Berlin, days: [mon-fri], from: 09:00, to: 17:30}",
		"remind: [1h], hours: 9-17": `hours is "9-17", not a mapping; write it ` +
			`as keys and values`,
		"remind: [1h], hours: {zone: Berlin, from: 09:00, to: 17:00}": `unknown time zone "Berlin"; write the ` +
			`name of a time zone, such as Europe/Berlin or UTC`,
		"remind: [1h], hours: {zone: Local, from: 09:00, to: 17:00}": `unknown time zone "Local"`,
		"remind: [1h], hours: {" + good +
			", days: [someday]}": `unknown day "someday"; use mon, tue, wed, thu, fri, sat and sun, or a range ` +
			`such as mon-fri`,
		"remind: [1h], hours: {" + good + ", days: [mon-x]}": `unknown day "mon-x"`,
		"remind: [1h], hours: {" + good + ", days: []}":      "days is an empty list",
		"remind: [1h], hours: {" + good + ", day: mon}":      `unknown key "day" in hours; did you mean days?`,
		"remind: [1h], hours: {zone: UTC, from: nine, to: 17:00}": `from is "nine", which is no time of day; ` +
			`write it like 09:00`,
		"remind: [1h], hours: {zone: UTC, from: 17:00, to: 09:00}": `to is "09:00", and from is "17:00"; write a ` +
			`time after from; 24:00 is the end of the day`,
		"hours: {" + good + "}": "hours moves reminders and the escalation, and " +
			"there are none; add remind or escalate, or remove it",
	} {
		_, err := policy.Parse("p.yaml", []byte(head+"  - {name: it, action: ask, approvers: [slack:U9], "+rest+"}\n"),
			policy.Defaults{Platforms: known})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", rest, err)
		}
	}
	if _, err := policy.Parse("p.yaml", []byte(head+"  - {name: it, action: deny, hours: {"+good+"}}\n"),
		policy.Defaults{Platforms: known}); err == nil || !strings.Contains(err.Error(), "hours makes no sense") {
		t.Errorf("%v", err)
	}
	p := parse(t, head+"asks:\n  - {tools: [people.ask], to: [slack:U9], remind: [1h], hours: {"+good+"}}\n",
		policy.Defaults{Platforms: known})
	if got := p.Asks(core.Turn{Actor: actor("slack:U1")}, core.Call{Tool: "people.ask"}, []string{"slack:U9"}, 0,
		false); policy.WrittenHours(got.Hours) != "Mon, Tue, Wed, Thu, Fri 09:00-17:00 UTC" {
		t.Errorf("%+v", got)
	}
}
