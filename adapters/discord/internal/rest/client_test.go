package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

func restAt(t *testing.T, h http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	r := New(Options{Token: "secret", URL: server.URL + "/api/v10"})
	t.Cleanup(r.Close)
	return r
}

func TestErrorsOfAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		header map[string]string
		body   string
		want   core.Category
		wait   time.Duration
		counts bool
	}{
		"done":           {200, nil, `{"id":"1"}`, "", 0, false},
		"half an answer": {200, nil, `{"id":"1`, core.DeliveryInDoubt, 0, false},
		"the token": {
			401, nil, `{"message":"401: Unauthorized","code":0}`, core.Unauthorized, 0, true,
		},
		"no view of the channel": {
			403, nil, `{"message":"Missing Access","code":50001}`, core.Unsupported, 0, true,
		},
		"no permission": {
			403, nil, `{"message":"Missing Permissions","code":50013}`, core.Unsupported, 0, true,
		},
		"no direct messages": {
			403, nil, `{"message":"Cannot send messages to this user","code":50007}`, core.DeliveryFailed, 0, true,
		},
		"a 403 of some other kind": {403, nil, `{"message":"No","code":99}`, core.Unsupported, 0, true},
		"the channel is gone": {
			404, nil, `{"message":"Unknown Channel","code":10003}`, core.DeliveryFailed, 0, false,
		},
		"its words":    {400, nil, `{"message":"Blocked","code":200000}`, core.ContentRefused, 0, false},
		"its links":    {400, nil, `{"message":"Blocked","code":240000}`, core.ContentRefused, 0, false},
		"its pictures": {403, nil, `{"message":"Explicit","code":20009}`, core.ContentRefused, 0, true},
		"a bad form": {
			400, nil, `{"message":"Invalid Form Body","code":50035,"errors":{"content":{}}}`, core.DeliveryFailed, 0,
			false,
		},
		"the thread is archived": {
			400, nil, `{"message":"Thread is archived","code":50083}`, core.DeliveryFailed, 0, false,
		},
		"the thread is locked": {
			400, nil, `{"message":"The thread is locked","code":160005}`, core.DeliveryFailed, 0, false,
		},
		"too late for interactions": {
			401, nil, `{"message":"Invalid Webhook Token","code":50027}`, core.DeliveryFailed, 0, true,
		},
		"slow mode": {
			400, nil,
			`{"message":"This action cannot be performed due to slowmode rate limit","code":20016,"retry_after":7.5}`,
			core.DeliveryLater, 7500 * time.Millisecond, false,
		},
		"too much for the channel": {
			403, nil, `{"message":"The channel you are writing has hit the write rate limit","code":20028}`,
			core.DeliveryLater, outbound.MinRetryAfter, true,
		},
		"too many edits": {
			400, nil,
			`{"message":"Maximum number of edits to messages older than 1 hour reached. Try again later","code":30046}`,
			core.DeliveryLater, outbound.MinRetryAfter, false,
		},
		"too many people at once": {
			400, nil, `{"message":"You are opening direct messages too fast","code":40003}`, core.DeliveryLater,
			outbound.MinRetryAfter, false,
		},
		"overloaded": {
			400, nil, `{"message":"API resource is currently overloaded. Try again a little later","code":130000}`,
			core.DeliveryLater, outbound.MinRetryAfter, false,
		},
		"a page of somebody else's": {404, nil, `<html>`, core.DeliveryLater, 0, false},
		"it wants to lead elsewhere": {
			302, map[string]string{"Location": "https://elsewhere.invalid/"}, "", core.DeliveryLater, 0, false,
		},
		"a bad request before it":      {400, nil, `<html>`, core.DeliveryLater, 0, false},
		"a login before it":            {401, nil, `<html>`, core.DeliveryLater, 0, false},
		"a refusal before it":          {403, nil, `<html>`, core.DeliveryLater, 0, false},
		"an object before it":          {403, nil, `{"message":"Forbidden"}`, core.DeliveryLater, 0, false},
		"nothing":                      {403, nil, ``, core.DeliveryLater, 0, false},
		"no method":                    {405, nil, `<html>`, core.DeliveryLater, 0, false},
		"a log-in to the proxy":        {407, nil, `<html>`, core.DeliveryLater, 0, false},
		"too slow for the proxy":       {408, nil, `<html>`, core.DeliveryLater, 0, false},
		"too large for the proxy":      {413, nil, `<html>`, core.DeliveryLater, 0, false},
		"another host's":               {421, nil, `<html>`, core.DeliveryLater, 0, false},
		"too early":                    {425, nil, `<html>`, core.DeliveryLater, 0, false},
		"forbidden by law":             {451, nil, `<html>`, core.DeliveryLater, 0, false},
		"given up by the proxy":        {499, nil, `<html>`, core.DeliveryInDoubt, 0, false},
		"a page in place of an answer": {200, nil, `<html>`, core.DeliveryInDoubt, 0, false},
		"no content":                   {204, nil, ``, core.DeliveryInDoubt, 0, false},
		"a ban": {
			403, map[string]string{"Cf-Ray": "1"}, `error code: 1020`, core.DeliveryLater, 0, true,
		},
		"an old form of a refusal": {
			400, map[string]string{"X-RateLimit-Bucket": "b"}, `{"content":["Must be short."]}`, core.DeliveryFailed, 0,
			false,
		},
		"broken down":           {500, nil, `<html>`, core.DeliveryInDoubt, 0, false},
		"broken down before it": {502, nil, `<html>`, core.DeliveryInDoubt, 0, false},
		"slow down": {
			429, map[string]string{"X-RateLimit-Scope": "user", "Retry-After": "2"},
			`{"message":"You are being rate limited.","retry_after":1.337,"global":false}`,
			core.DeliveryLater, 1337 * time.Millisecond, true,
		},
		"slow down, all": {
			429, map[string]string{"X-RateLimit-Scope": "global", "X-RateLimit-Global": "true"},
			`{"retry_after":3}`, core.DeliveryLater, 3 * time.Second, true,
		},
		"others too": {
			429, map[string]string{"X-RateLimit-Scope": "shared", "Retry-After": "9"},
			`{"retry_after":8.5}`, core.DeliveryLater, 8500 * time.Millisecond, false,
		},
		"the proxy": {
			429, map[string]string{"Retry-After": "60"}, `error code: 1015`, core.DeliveryLater, time.Minute, true,
		},
		"no number": {
			429, map[string]string{"Retry-After": "soon"}, `error code: ` +
				`1015`, core.DeliveryLater, outbound.MinRetryAfter,
			true,
		},
		"for ever": {429, nil, `{"retry_after":1e99}`, core.DeliveryLater, outbound.MaxWait, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := restAt(t, func(w http.ResponseWriter, _ *http.Request) {
				for k, v := range c.header {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				_, _ = fmt.Fprint(w, c.body)
			})
			var answer struct {
				ID string `json:"id"`
			}
			err := r.Call(t.Context(), http.MethodPost, "/channels/1/messages", map[string]string{}, &answer)
			if core.CategoryOf(err) != c.want || core.RetryAfterOf(err) != c.wait {
				t.Errorf("%s after %s, want %s after %s: %v", core.CategoryOf(err), core.RetryAfterOf(err), c.want,
					c.wait, err)
			}
			if err != nil && core.MessageOf(err) == "" {
				t.Errorf("no sentence: %v", err)
			}
			own := c.want != core.DeliveryInDoubt && c.want != core.Unauthorized &&
				(c.want != core.DeliveryLater || c.wait > 0)
			if health := r.health.Err(); (health == nil) != own && c.wait == 0 {
				t.Errorf("the health is %v", health)
			}
			if counted := len(r.invalid.at) == 1; counted != c.counts {
				t.Errorf("counted as invalid: %v", counted)
			}
		})
	}
}

// Discord says that a bucket is used up for a day. It is asked again after a quarter of an hour.
func TestBucketIsNotUsedUpForADay(t *testing.T) {
	const day = 24 * time.Hour
	for name, set := range map[string]func(http.Header){
		"for so long":  func(h http.Header) { h.Set("X-RateLimit-Reset-After", fmt.Sprint(day.Seconds())) },
		"until then":   func(h http.Header) { h.Set("X-RateLimit-Reset", fmt.Sprint(time.Now().Add(day).Unix())) },
		"for ever":     func(h http.Header) { h.Set("X-RateLimit-Reset-After", "inf") },
		"for a little": func(h http.Header) { h.Set("X-RateLimit-Reset-After", "899") },
	} {
		t.Run(name, func(t *testing.T) {
			r := restAt(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-RateLimit-Bucket", "b")
				w.Header().Set("X-RateLimit-Remaining", "0")
				set(w.Header())
			})
			call := func() error { return r.Call(t.Context(), http.MethodPost, "/channels/1/messages", nil, nil) }
			if err := call(); err != nil {
				t.Fatal(err)
			}
			err := call()
			if wait := core.RetryAfterOf(err); wait > outbound.MaxWait || wait < outbound.MaxWait-time.Minute ||
				core.CategoryOf(err) != core.DeliveryNotYet {
				t.Errorf("%v, after %s", err, wait)
			}
		})
	}
}

// A page that a call without an answer of interest gets is no answer of Discord's.
func TestPageIsNoSuccess(t *testing.T) {
	r := restAt(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>Log in</html>") })
	if err := r.Call(t.Context(), http.MethodPost, "/channels/1/typing",
		nil, nil); core.CategoryOf(err) != core.DeliveryInDoubt || r.health.Err() == nil {
		t.Errorf("%v, and the health is %v", err, r.health.Err())
	}
}

func TestLostAndUnsentCalls(t *testing.T) {
	r := restAt(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if err := r.Call(t.Context(), http.MethodPost,
		"/channels/1/messages", nil, nil); core.CategoryOf(err) != core.DeliveryInDoubt {
		t.Errorf("lost: %v", err)
	}
	r.url = "http://127.0.0.1:1/api/v10"
	if err := r.Call(t.Context(), http.MethodPost,
		"/channels/1/messages", nil, nil); core.CategoryOf(err) != core.DeliveryLater {
		t.Errorf("no connection: %v", err)
	}
}

// A call that would have to wait is not made; its error has the time to wait.
func TestCallsNeverWaitForALimit(t *testing.T) {
	calls := 0
	r := restAt(t, func(w http.ResponseWriter, req *http.Request) {
		calls++
		scope := map[string]string{
			"/api/v10/channels/1/messages": "", "/api/v10/channels/2/messages": "user",
			"/api/v10/channels/3/messages": "global",
		}[req.URL.Path]
		w.Header().Set("X-RateLimit-Bucket", "b")
		if scope == "" {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.Header().Set("X-RateLimit-Reset-After", "40")
			return
		}
		w.Header().Set("X-RateLimit-Scope", scope)
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprint(w, `{"retry_after":50}`)
	})
	send := func(channel string) time.Duration {
		return core.RetryAfterOf(r.Call(t.Context(), http.MethodPost, "/channels/"+channel+"/messages", nil, nil))
	}
	if wait := send("1"); wait != 0 {
		t.Errorf("the first waits for %s", wait)
	}
	if wait := send("1"); wait < 39*time.Second || wait > 40*time.Second || calls != 1 {
		t.Errorf("a bucket that is used up waits for %s after %d calls", wait, calls)
	}
	if send("2"); calls != 2 {
		t.Error("a bucket holds up another one")
	}
	if wait := send("2"); wait < 49*time.Second || calls != 2 {
		t.Errorf("after a 429 it waits for %s after %d calls", wait, calls)
	}
	send("3")
	if wait := send("4"); wait < 49*time.Second || calls != 3 {
		t.Errorf("after a global 429 another channel waits for %s after %d calls", wait, calls)
	}
}

func TestTheGlobalLimitIsKept(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	g := newLimits(func() time.Time { return now })
	enter := func(key string, kind class) error {
		one, err := g.enter(t.Context(), key, kind)
		if err == nil {
			one.bucket.Unlock()
			g.leave(one)
		}
		return err
	}
	for i := range globalBurst {
		if err := enter(fmt.Sprint("a", i), urgent); err != nil {
			t.Fatal(err)
		}
	}
	if err := enter("b", urgent); core.RetryAfterOf(err) <= 0 {
		t.Errorf("%v", err)
	}
	if err := enter("b", exempt); err != nil {
		t.Errorf("an answer to an interaction: %v", err)
	}
	now = now.Add(time.Second / globalRate)
	if err := enter("b", urgent); err != nil {
		t.Errorf("later: %v", err)
	}
}

// However many posts wait, other calls are made at once; and however many of those wait, some posts are made. The limit
// is used in full.
func TestPostsLeaveCallsToOthers(t *testing.T) {
	const seconds, ticks = 10, 1000
	for name, c := range map[string]struct {
		posts, others         int // tried in each tick
		start                 int // other calls at the beginning of a second; none of them waits
		wantPosts, wantOthers int // made in a second at least
	}{
		"posts alone":       {posts: 5, wantPosts: globalRate - 1},
		"posts and a start": {posts: 5, start: 8, wantPosts: globalRate - 9, wantOthers: 8},
		"too many of both": {
			posts: 5, others: 5, wantPosts: postRate * 8 / 10, wantOthers: globalRate - postRate,
		},
		"few posts, many fetches": {
			posts: 1, others: 5, wantPosts: postRate * 8 / 10, wantOthers: globalRate - postRate,
		},
		"fetches alone": {others: 5, wantOthers: globalRate - 1},
	} {
		now := time.Unix(1_800_000_000, 0)
		g := newLimits(func() time.Time { return now })
		posts, others := 0, 0
		try := func(n int, kind class, made *int) {
			for range n {
				if g.waitGlobal(kind, now) == 0 {
					*made++
				}
			}
		}
		try(globalBurst, post, &posts)
		try(globalBurst, post, &posts)
		posts = 0
		for tick := range seconds * ticks {
			now = now.Add(time.Second / ticks)
			try(c.posts, post, &posts)
			try(c.others, urgent, &others)
			if tick%ticks == ticks-1 {
				try(c.start, urgent, &others)
			}
		}
		if posts < seconds*c.wantPosts || others < seconds*c.wantOthers ||
			posts+others > seconds*globalRate+urgentBurst+1 {
			t.Errorf("%s: %d posts and %d other calls in %d s, want %d and %d a second", name, posts, others, seconds,
				c.wantPosts, c.wantOthers)
		}
	}
}

func TestClassesOfCalls(t *testing.T) {
	for path, want := range map[string]class{
		"/channels/1/messages": post, "/gateway/bot": post, "/interactions/1/token/callback": exempt,
		"/webhooks/1/token/messages/@original": exempt,
	} {
		if got := classOf(ForPosts(t.Context()), path); got != want {
			t.Errorf("%s for a post is %d, want %d", path, got, want)
		}
		if got := classOf(t.Context(), path); got == post || (got == exempt) != (want == exempt) {
			t.Errorf("%s is %d", path, got)
		}
	}
}

func TestWaitForARouteEndsWithTheContext(t *testing.T) {
	g := newLimits(time.Now)
	one, err := g.enter(t.Context(), "a", urgent)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.enter(ctx, "a", urgent); core.CategoryOf(err) != core.DeliveryLater {
		t.Errorf("%v", err)
	}
	one.bucket.Unlock()
	g.leave(one)
	if one.queued != 0 {
		t.Errorf("%d are left", one.queued)
	}
}

func TestUnusedRoutesAreForgotten(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	g := newLimits(func() time.Time { return now })
	for i := range sweepAt {
		route := fmt.Sprint(i)
		g.put(g.take(route))
		g.hold(route, time.Second)
		g.share(route, "the bucket of "+route)
	}
	now = now.Add(unusedAfter + time.Second)
	g.put(g.take("new"))
	g.share("new", "another")
	if len(g.routes) != 1 || len(g.buckets) != 1 || len(g.blocked) != 0 {
		t.Errorf("%d routes are kept, %d buckets, %d are blocked", len(g.routes), len(g.buckets), len(g.blocked))
	}
}

// Discord bans an address that makes too many refused calls; the bot stops long before that.
func TestTooManyRefusalsStopCalls(t *testing.T) {
	calls, now := 0, time.Unix(1_800_000_000, 0)
	r := restAt(t, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"message":"Missing Access","code":50001}`)
	})
	r.invalid.now = func() time.Time { return now }
	r.limits.now = func() time.Time { now = now.Add(time.Second / 10); return now }
	for range MaxInvalid + 100 {
		_ = r.Call(t.Context(), http.MethodGet, "/users/@me", nil, nil)
	}
	err := r.Call(t.Context(), http.MethodGet, "/users/@me", nil, nil)
	if calls != MaxInvalid || core.CategoryOf(err) != core.DeliveryLater || core.RetryAfterOf(err) <= 0 {
		t.Errorf("%d calls, then %v", calls, err)
	}
	now = now.Add(InvalidWindow)
	_ = r.Call(t.Context(), http.MethodGet, "/users/@me", nil, nil)
	if calls != MaxInvalid+1 {
		t.Errorf("%d calls after the ten minutes", calls)
	}
}

func TestRoutes(t *testing.T) {
	for path, want := range map[string]string{
		"/channels/1/messages":                "POST channels/1/messages",
		"/channels/1/messages/2":              "POST channels/1/messages/*",
		"/channels/1/messages/2/threads":      "POST channels/1/messages/*/threads",
		"/channels/1/messages?after=5":        "POST channels/1/messages",
		"/guilds/1/members/2":                 "POST guilds/1/members/*",
		"/users/@me/channels":                 "POST users/@me/channels",
		"/webhooks/1/token":                   "POST webhooks/1/token",
		"/webhooks/1/token/messages/3":        "POST webhooks/1/token/messages/*",
		"/applications/1/commands":            "POST applications/1/commands",
		"/interactions/1/token/callback":      "POST interactions/1/token/callback",
		"/channels/123456789012345678901/pin": "POST channels/123456789012345678901/pin",
	} {
		if got := routeOf("POST", path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
