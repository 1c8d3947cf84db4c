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
	return s.WithEngine(func(e sqlstore.Engine) sqlstore.Engine { return engine{Engine: e, hit: hit} })
}

// engine is one whose transactions are points.
type engine struct {
	sqlstore.Engine
	hit func(point string)
}

// at hits the point before the running method of the store, and returns a function that hits the one after it.
func (e engine) at() func() {
	method := calledMethod()
	e.hit(method + ".before")
	return func() { e.hit(method + ".after") }
}

func (e engine) Write(ctx context.Context, work sqlstore.Work) error {
	defer e.at()()
	return e.Engine.Write(ctx, work)
}

func (e engine) Beat(ctx context.Context, work sqlstore.Work) error {
	defer e.at()()
	return e.Engine.Beat(ctx, work)
}

func (e engine) Read(ctx context.Context, work sqlstore.Work) error {
	defer e.at()()
	return e.Engine.Read(ctx, work)
}

func (e engine) Register(instance string, free func(string) error) (string, error) {
	defer e.at()()
	return e.Engine.Register(instance, free)
}

func (e engine) Close() error {
	defer e.at()()
	return e.Engine.Close()
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
		if !slices.Contains([]string{
			"WithEngine", "WithLimits", "Signer", "SignsWithItsKey", "Gone", "Serving",
		}, m.Name) {
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
