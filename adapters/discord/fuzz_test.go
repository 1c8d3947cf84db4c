package discord

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"gatehouse/core"
)

// Whatever stands in an answer, it has a category, a sentence and a wait within bounds.
func FuzzFault(f *testing.F) {
	for _, body := range []string{"", "{}", `{"message":"x","code":50013}`, `{"retry_after":1.5}`, `{"retry_after":-1}`, `{"retry_after":1e400}`, `{"code":50035,"errors":{"a":[]}}`, "<html>", `[]`, `{"code":"x"}`, "\xff"} {
		f.Add(429, body, "1")
		f.Add(403, body, "")
		f.Add(500, body, "x")
	}
	f.Fuzz(func(t *testing.T, status int, body, after string) {
		if status < 300 || status > 599 {
			return
		}
		err := faultOf(testimony{status: status, header: http.Header{"Retry-After": {after}}}, []byte(body), nil)
		if core.CategoryOf(err) == core.Internal || core.MessageOf(err) == "" || strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%v", err)
		}
		if wait := core.RetryAfterOf(err); wait < 0 || wait > maxRetryAfter || status == http.StatusTooManyRequests && wait == 0 {
			t.Errorf("it waits for %s", wait)
		}
	})
}

// Whatever a reply says, nothing of it hides where it leads, and each part is a message that Discord takes.
func FuzzReply(f *testing.F) {
	f.Add(hostile)
	f.Add("```\n[a](b)\n```\n`[c](d)` **[e](f)**")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 600 {
			return
		}
		drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostReply, Text: text}})
	})
}

// Whatever stands on a card, it is one message.
func FuzzCard(f *testing.F) {
	f.Add(hostile, "{}")
	f.Fuzz(func(t *testing.T, text, arguments string) {
		if len(text)+len(arguments) > 600 {
			return
		}
		c := testCard(func(c *core.Card) {
			c.Summary, c.Reason, c.Changed, c.Tool, c.Arguments = text, text, text, text, arguments
		})
		drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostCard, Copy: true}, Card: c})
	})
}

// Whatever an address says, what comes of it may stand in a path.
func FuzzAddress(f *testing.F) {
	f.Add("interaction:1/token")
	f.Add("interaction:1/../2?x")
	f.Add("command:1/token/2")
	f.Add("command:1/../2?x/3")
	f.Fuzz(func(t *testing.T, message string) {
		app, token, ok := interactionOf(core.Address{Message: message})
		if ok && (!isSnowflake(app) || strings.ContainsAny(token, "/?#%")) {
			t.Errorf("%q gives %q and %q", message, app, token)
		}
		c, ok := commandOf(core.Delivery{Post: core.Post{Kind: core.PostNotice, To: core.Address{Message: message}}})
		if ok && (strings.Count(c.path, "/") != 5 || strings.ContainsAny(c.path, "?#%")) {
			t.Errorf("%q gives %q", message, c.path)
		}
		if name := topic(message); name == "" || units(name) > maxThreadName || !utf8.ValidString(name) {
			t.Errorf("%q becomes %q", message, name)
		}
	})
}
