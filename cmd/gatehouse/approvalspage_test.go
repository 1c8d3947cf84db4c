package main

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// pagesOn serves the pages on a database with n open approvals, which root (an admin) and bob (an approver) may see.
func pagesOn(t testing.TB, url string, n int) (load func(who, path string) (status int, page string)) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	t.Setenv("GATEHOUSE_TOKENS", "ann=token-of-ann-0123456789,bob=token-of-bob-0123456789,"+
		"root!=token-of-root-0123456789")
	cfg, _, err := source.Load()
	noErr(t, err)
	store, err := storage.Open(context.Background(), url, storage.Options{})
	noErr(t, err)
	t.Cleanup(func() { store.Close() })
	openMany(t, store, n)
	gate, err := newGate(context.Background(), cfg, store)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range newPages(newShared(cfg, store, slog.New(slog.DiscardHandler)), gate, nil).Routes() {
		mux.Handle(pattern, h)
	}
	return func(who, path string) (int, string) {
		r := httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, nil)
		r.Header.Set("Authorization", "Bearer token-of-"+who+"-0123456789")
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
}

// openMany stores open approvals of calls of an ordinary size, in conversations of ten.
func openMany(t testing.TB, store *storage.Store, n int) {
	t.Helper()
	args, err := json.Marshal(map[string]string{"host": "db-7", "reason": strings.Repeat("because it is needed; ", 20)})
	noErr(t, err)
	digest, err := tool.Digest("restart", args)
	noErr(t, err)
	var all errgroup.Group
	all.SetLimit(64)
	for i := range n {
		all.Go(func() error {
			conversation := core.ConversationID(fmt.Sprintf("slack:T1/C%d", i/10))
			_, _, err := store.OpenExternal(context.Background(), core.Approval{
				ID: core.ApprovalID(fmt.Sprintf("ap-%06d", i)), Conversation: conversation, State: core.Open,
				Session: conversation.Session(1), Address: core.Address{Platform: "slack"},
				Call: core.Call{
					Tool: "restart", Arguments: args, Digest: digest, Summary: "Restart the host db-7",
				},
				Requester: core.Actor{ID: fmt.Sprintf("slack:U%d", i%500), Name: "somebody"},
				Rule: core.Rule{
					Name: "ops", Verdict: core.VerdictAsk, Approvers: []string{"openharness:bob", "slack:U1"},
				},
			}, nil, n+1)
			return err
		})
	}
	noErr(t, all.Wait())
}

// TestAPageOfApprovalsAsksForAPage: what a load takes does not grow with how many are open, and is below 20 MB (but
// under the race detector, where pools give away what they hold).
func TestAPageOfApprovalsAsksForAPage(t *testing.T) {
	for name, e := range map[string]engine{"sqlite": sqliteFile, "postgres": postgresServer} {
		t.Run(name, func(t *testing.T) {
			few, many := pagesOn(t, e.make(t), 200), pagesOn(t, e.make(t), 2000)
			for _, who := range []string{"root", "bob", "ann"} {
				first := allocated(t, func() { loaded(t, few, who, "/approvals") })
				second := allocated(t, func() { loaded(t, many, who, "/approvals") })
				t.Logf("%s: %d KB of 200, %d KB of 2000", who, first>>10, second>>10)
				if !underRace && second > 20<<20 || second > first+first/2 {
					t.Errorf("a load of %s takes %d bytes with 200 open approvals, and %d with 2000", who, first,
						second)
				}
			}
			page := loaded(t, many, "bob", "/approvals")
			if !strings.Contains(page, ">2000<") || strings.Count(page, `class="ask`) > 60 {
				t.Errorf("the page is %s", page[:min(len(page), 4000)])
			}
			for range 3 { // the next pages
				_, rest, ok := strings.Cut(page, `<p class="more"><a href="`)
				if !ok {
					t.Fatal("there is no next page")
				}
				path, _, _ := strings.Cut(rest, `"`)
				next := loaded(t, many, "bob", html.UnescapeString(path))
				if next == page {
					t.Error("the next page is the same")
				}
				page = next
			}
			if page := loaded(t, many, "ann", "/approvals"); !strings.Contains(page, "Nothing waits") {
				t.Error("somebody sees what is not for them")
			}
		})
	}
}

func loaded(t testing.TB, load func(who, path string) (int, string), who, path string) string {
	t.Helper()
	status, page := load(who, path)
	if status != http.StatusOK {
		t.Fatalf("%s %s: %d", who, path, status)
	}
	return page
}

// allocated is how many bytes do allocates, after a first time.
func allocated(t testing.TB, do func()) uint64 {
	t.Helper()
	do()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkApprovalsPage loads the page with 20,000 open approvals.
func BenchmarkApprovalsPage(b *testing.B) {
	load := pagesOn(b, "sqlite:"+filepath.Join(b.TempDir(), "gatehouse.db"), 20_000)
	for _, who := range []string{"root", "bob"} {
		b.Run(who, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				loaded(b, load, who, "/approvals")
			}
		})
	}
}
