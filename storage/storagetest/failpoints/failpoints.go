// Package failpoints calls a hook before and after every method of a store, for killing a real process there.
package failpoints

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"gatehouse/storage/internal/sqlstore"
)

// Wrap wraps a store so that hit is called around every transaction: with "Accept.before" before it begins, and with
// "Accept.after" after it is committed or undone but before the caller knows. The name is that of the store's method.
// Killing the process in hit shows what a crash there leaves.
func Wrap(s *sqlstore.Store, hit func(point string)) *sqlstore.Store {
	at := func() func() {
		method := calledMethod()
		hit(method + ".before")
		return func() { hit(method + ".after") }
	}
	return s.WithHooks(func(h sqlstore.Hooks) sqlstore.Hooks {
		transaction := func(run func(context.Context, sqlstore.Work) error) func(context.Context, sqlstore.Work) error {
			return func(ctx context.Context, work sqlstore.Work) error {
				defer at()()
				return run(ctx, work)
			}
		}
		register, closeAll := h.Register, h.Close
		h.Write, h.Beat, h.Read = transaction(h.Write), transaction(h.Beat), transaction(h.Read)
		h.Register = func(instance string, free func(string) error) (string, error) {
			defer at()()
			return register(instance, free)
		}
		h.Close = func() error {
			defer at()()
			return closeAll()
		}
		return h
	})
}

// All returns the points that a store calls, two per method: "Accept.before", "Accept.after" and so on.
func All() []string {
	var points []string
	for _, m := range Methods() {
		points = append(points, m+".before", m+".after")
	}
	return points
}

// Methods returns the names of the store's methods that run a transaction, or open or close the database: all but a
// few.
func Methods() []string {
	var names []string
	for m := range reflect.TypeFor[*sqlstore.Store]().Methods() {
		if !slices.Contains([]string{"WithHooks", "WithLimits", "Signer", "SignsWithItsKey"}, m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// calledMethod returns the name of the outermost running exported method of the store.
func calledMethod() string {
	frames := runtime.CallersFrames(callers())
	name := "none"
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		_, method, ok := strings.Cut(f.Function, "sqlstore.(*Store).")
		if method, _, _ = strings.Cut(method, "."); ok && method[0] >= 'A' && method[0] <= 'Z' {
			name = method
		}
	}
	return name
}

func callers() []uintptr {
	pcs := make([]uintptr, 64)
	return pcs[:runtime.Callers(3, pcs)]
}
