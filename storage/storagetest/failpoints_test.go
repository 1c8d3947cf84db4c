package storagetest_test

import (
	"reflect"
	"slices"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/storagetest"
)

// TestFailpoints calls every method of a wrapped store that is not there: each must hit its point before, and, though the call
// panics, its point after.
func TestFailpoints(t *testing.T) {
	var hits []string
	s := reflect.ValueOf(storagetest.Failpoints(nil, func(point string) { hits = append(hits, point) }))
	for m := range reflect.TypeFor[core.Store]().Methods() {
		method := s.MethodByName(m.Name)
		args := make([]reflect.Value, method.Type().NumIn())
		for i := range args {
			args[i] = reflect.Zero(method.Type().In(i))
		}
		func() {
			defer func() { _ = recover() }()
			method.Call(args)
		}()
	}
	if want := storagetest.Points(); !slices.Equal(hits, want) {
		t.Errorf("got %q\nwant %q", hits, want)
	}
	if len(hits) < 60 {
		t.Errorf("only %d points", len(hits))
	}
}
