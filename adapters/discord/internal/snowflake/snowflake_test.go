package snowflake

import (
	"testing"
	"time"
)

func TestTimeOfAnID(t *testing.T) {
	const id = "175928847299117063"
	at := time.Date(2016, 4, 30, 11, 18, 25, 796*1e6, time.UTC)
	if !Time(id).Equal(at) || Greater(At(at), id) || !Greater(At(at.Add(time.Millisecond)), id) {
		t.Errorf("%s is of %s; %s begins with %s", id, Time(id), at, At(at))
	}
	if At(time.Time{}) != "0" || At(Time("5").Add(-time.Minute)) != "0" {
		t.Error("before there was Discord")
	}
	if got := At(Time(At(at)).Add(-time.Second)); got != At(at.Add(-time.Second)) {
		t.Errorf("a second before is %s", got)
	}
}

func TestValidIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"": false, "1": true, "18446744073709551615": true, "123456789012345678901": false, "1a": false, "-1": false,
		" 1": false, "../2": false,
	} {
		if Valid(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}
