package failpoints_test

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
	"gatehouse/storage/storagetest/failpoints"
)

// TestFailpoints calls every method of a wrapped store: each must hit its points, the first and the last, and no
// other's.
func TestFailpoints(t *testing.T) {
	inner, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "gatehouse.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var hits []string
	s := reflect.ValueOf(failpoints.Wrap(inner, func(point string) { hits = append(hits, point) }))
	methods := failpoints.Methods()
	for _, name := range append(slices.DeleteFunc(slices.Clone(methods), func(m string) bool {
		return m == "Close"
	}), "Close") {
		method := s.MethodByName(name)
		args := []reflect.Value{}
		for i := range method.Type().NumIn() {
			args = append(args, argument(t, method.Type().In(i)))
		}
		hits = nil
		method.Call(args)
		foreign := slices.ContainsFunc(hits, func(h string) bool { return h != name+".before" && h != name+".after" })
		if len(hits) < 2 || foreign || hits[0] != name+".before" || hits[len(hits)-1] != name+".after" {
			t.Errorf("%s hits %q", name, hits)
		}
	}
	if len(methods) < 45 {
		t.Errorf("only %d methods", len(methods))
	}
}

// argument is one that the method does not refuse before it asks the database.
func argument(t *testing.T, of reflect.Type) reflect.Value {
	switch of {
	case reflect.TypeFor[core.Event]():
		return reflect.ValueOf(core.Event{Platform: "p", ID: "1", Conversation: "p:1", Body: core.MessageEvent{}})
	case reflect.TypeFor[core.Finish]():
		return reflect.ValueOf(core.Finish{End: core.End{Kind: core.EndNothing}})
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(time.Minute)
	case reflect.TypeFor[*core.SessionRecord]():
		return reflect.ValueOf(&core.SessionRecord{ID: "p:1@1"})
	case reflect.TypeFor[core.Mail]():
		return reflect.ValueOf(core.Mail{Mailbox: "p:1", Key: "x", Content: []byte("{}")})
	case reflect.TypeFor[int](), reflect.TypeFor[int64]():
		return reflect.ValueOf(1).Convert(of)
	case reflect.TypeFor[core.ClaimRequest]():
		return reflect.ValueOf(core.ClaimRequest{Owner: "me", Limit: 1, Scopes: []core.Scope{{Platform: "p"}}})
	case reflect.TypeFor[core.PostRequest]():
		return reflect.ValueOf(core.PostRequest{Owner: "me", Limit: 1, Scopes: []core.Scope{{Platform: "p"}}})
	}
	if of.Kind() == reflect.String {
		return reflect.ValueOf("x").Convert(of)
	}
	if of.Kind() == reflect.Interface {
		return reflect.ValueOf(t.Context())
	}
	return reflect.Zero(of)
}
