package main

import "testing"

func TestOldMessagesAreRemovedUnderLoad(t *testing.T) {
	t.Parallel()
	all := tables(t, "retention", "--gatehouse", gatehouse(t), "--messages", "4000", "--events", "400", "--warm", "10")
	if f := all[0]["removed"]; f["removed"] <= 0 || f["replies_per_s"] <= 0 || f["lost"] != 0 || f["doubled"] != 0 {
		t.Errorf("removed: %v", f)
	}
	if f := all[0]["kept"]; f["removed"] != 0 || f["replies_per_s"] <= 0 || f["lost"] != 0 {
		t.Errorf("kept: %v", f)
	}
}
