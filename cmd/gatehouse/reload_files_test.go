package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// files are those of a configuration that is read again, and a process that uses them.
type files struct {
	*slackProcess
	t      *testing.T
	dir    string
	fake   fakeVendor
	extra  fakeVendor // what the models of the file ask after the first change
	first  string     // an MCP server
	second string
}

const cleosToken = "cleos-token-0123456789"

// servesFiles starts a process whose every file has its first form.
func servesFiles(t *testing.T) *files {
	t.Helper()
	f := &files{t: t, dir: t.TempDir(), fake: vendors["OpenAI"](t), extra: vendors["OpenAI"](t)}
	f.first, _ = pingServer(t)
	f.second, _ = pingServer(t)
	f.writes(false)
	f.slackProcess = newSlackProcess(t,
		"GATEHOUSE_TOKENS_FILE="+f.path("tokens"), "GATEHOUSE_MODELS="+f.path("models.yaml"),
		"GATEHOUSE_MODEL=main", "GATEHOUSE_APPROVAL_POLICY="+f.path("policy.yaml"),
		"GATEHOUSE_TOOLS="+f.path("tools.yaml"), "GATEHOUSE_MCP_CONFIG="+f.path("mcp.json"),
		"GATEHOUSE_SYSTEM_PROMPT_FILE="+f.path("prompt.txt"))
	for i, one := range f.env {
		if secret, found := strings.CutPrefix(one, "SLACK_SIGNING_SECRET="); found {
			f.write("signing", secret)
			f.env[i] = "SLACK_SIGNING_SECRET_FILE=" + f.path("signing")
		}
	}
	f.open()
	awaitServer(t, f.at, "first")
	return f
}

func (f *files) path(name string) string { return filepath.Join(f.dir, name) }

func (f *files) write(name, text string) {
	f.t.Helper()
	noErr(f.t, os.WriteFile(f.path(name), []byte(text), 0o600))
}

// writes writes all files in their first form, or in the second one.
func (f *files) writes(second bool) {
	f.t.Helper()
	tokens, key, action, tool := "ann="+annsToken+",bob="+bobsToken, "sk-first-0123456789", "allow", ""
	servers := map[string]string{"first": f.first}
	if second {
		tokens, key, action = "ann="+annsToken+",cleo="+cleosToken, "sk-second-0123456789", "deny\n    why: Not today."
		tool = "  - {name: shop.new, description: A new one., risk: read, command: [echo]}\n"
		servers["second"] = f.second
	}
	f.write("tokens", tokens)
	f.write("key", key)
	f.write("models.yaml", fmt.Sprintf("models:\n  - {name: main, vendor: openai, model: gpt-test, base_url: %q, "+
		"key_file: %q}\n", f.fake.URL+"/v1", f.path("key")))
	f.write("policy.yaml", "version: 1\nrules:\n  - name: all\n    action: "+action+"\n")
	f.write("tools.yaml", fmt.Sprintf("version: 1\ntools:\n  - {name: shop.wait, description: Waits., risk: read, "+
		"command: [sh, -c, 'touch %s; while [ ! -e %s ]; do sleep 0.05; done']}\n%s", f.path("began"),
		f.path("go"), tool))
	serversFile(f.t, f.path("mcp.json"), servers)
	f.write("prompt.txt", "You are a bot.")
}

// hangUp has the process read its files again, and waits until it has logged that.
func (f *files) hangUp(says string) {
	f.t.Helper()
	before := strings.Count(f.app.out.String(), says)
	f.signal(syscall.SIGHUP)
	f.until(says, f.app, func() bool { return strings.Count(f.app.out.String(), says) > before })
}

// admits reports whether a page is shown to the bearer of a token: others are sent to the login.
func (f *files) admits(token string) bool {
	f.t.Helper()
	q, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.at+"/approvals", nil)
	noErr(f.t, err)
	q.Header.Set("Authorization", "Bearer "+token)
	r, err := http.DefaultTransport.RoundTrip(q)
	noErr(f.t, err)
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// ask has ann ask something in a session, and returns the whole answer.
func (f *files) ask(session string) string {
	f.t.Helper()
	r := newShell(f.t, f.at, annsToken).send(request("", session, "go on"))
	return string(r.Raw)
}

// keys are those with which the fake was called.
func (f *files) keys() (all []string) {
	for _, c := range f.fake.Calls() {
		all = append(all, strings.TrimPrefix(c.Header.Get("Authorization"), "Bearer "))
	}
	return all
}

// follow opens a stream, and returns what is closed when it ends.
func (f *files) follow(do func() io.Reader) (ended chan struct{}) {
	f.t.Helper()
	body := do()
	ended = make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, body)
		close(ended)
	}()
	return ended
}

// TestReloadTakesEachFile: on one SIGHUP each kind of file is read again while a turn runs, which ends with what it
// began with. Who has no token any more is let in no more, and their streams end. What needs a restart is named.
func TestReloadTakesEachFile(t *testing.T) {
	t.Parallel()
	f := servesFiles(t)
	bob := visit(t, f.at, bobsToken)
	asCookie := f.follow(func() io.Reader {
		return bob.do(http.MethodGet, "/v1/openharness/events?session=web&as=bob", "", "", "").Body
	})
	stream := func(token string) chan struct{} {
		return f.follow(func() io.Reader {
			q, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				f.at+"/v1/openharness/events?session=web", nil)
			noErr(t, err)
			q.Header.Set("Authorization", "Bearer "+token)
			r, err := http.DefaultClient.Do(q)
			noErr(t, err)
			t.Cleanup(func() { r.Body.Close() })
			if r.StatusCode != http.StatusOK {
				t.Fatalf("the stream is answered with %d", r.StatusCode)
			}
			return r.Body
		})
	}
	asBearer, stays := stream(bobsToken), stream(annsToken)
	f.fake.Then(f.fake.call(toolCall("c1", "shop.wait", `{}`)), f.fake.say("It waited."))
	answer := make(chan string, 1)
	go func() { answer <- f.ask("running") }()
	f.until("the tool runs", f.app, func() bool {
		_, err := os.Stat(f.path("began"))
		return err == nil
	})

	f.writes(true)
	f.write("signing", strings.Repeat("0123456789abcdef", 2))
	f.write("prompt.txt", "You are another bot.")
	f.hangUp("the configuration was read again: policy (" + f.path("policy.yaml") + "), tools (" +
		f.path("tools.yaml") + "), MCP servers (" + f.path("mcp.json") + "), models and their keys, tokens; what " +
		"changed of GATEHOUSE_SYSTEM_PROMPT_FILE, SLACK_SIGNING_SECRET needs a restart")
	<-asCookie
	<-asBearer
	if r := bob.do(http.MethodGet, "/v1/openharness/events?session=web&as=bob", "", "", ""); r.StatusCode != 401 {
		t.Errorf("bob's page is answered with %d", r.StatusCode)
	}
	if b, c, a := f.admits(bobsToken), f.admits(cleosToken), f.admits(annsToken); b || !c || !a {
		t.Errorf("bob, cleo and ann are let in: %t, %t, %t", b, c, a)
	}
	select {
	case <-stays:
		t.Error("ann's stream ended")
	default:
	}
	visit(t, f.at, cleosToken)
	awaitServer(t, f.at, "second")

	f.write("go", "")
	if got := <-answer; !strings.Contains(got, "It waited.") {
		t.Errorf("the running turn answers %s", got)
	}
	if got := f.keys(); !slices.Equal(got, []string{"sk-first-0123456789", "sk-first-0123456789"}) {
		t.Errorf("the running turn asked with %q", got)
	}
	f.fake.Then(f.fake.call(toolCall("c2", "note.add", `{"text":"milk"}`)), f.fake.say("It may not."))
	if got := f.ask("next"); !strings.Contains(got, "It may not.") {
		t.Errorf("the next turn answers %s", got)
	}
	if got := f.keys()[2:]; !slices.Equal(got, []string{"sk-second-0123456789", "sk-second-0123456789"}) {
		t.Errorf("the next turn asked with %q", got)
	}
	if body := f.fake.lastBody(); !strings.Contains(body, "Not today.") || !strings.Contains(body, "shop__new") ||
		!strings.Contains(body, "second__ping") {
		t.Errorf("the model reads %s", body)
	}

	f.write("models.yaml", fmt.Sprintf("models:\n  - {name: main, vendor: openai, model: gpt-test, base_url: %q}\n",
		f.extra.URL+"/v1"))
	f.hangUp("models and their keys; what changed of")
	f.extra.Then(f.extra.say("From elsewhere."))
	if got := f.ask("elsewhere"); !strings.Contains(got, "From elsewhere.") {
		t.Errorf("the other model answers %s", got)
	}
}

// TestReloadWithAFaultChangesNothing: where one file is faulty, none of the others is taken, whatever it is, and who
// makes requests meanwhile notices nothing.
func TestReloadWithAFaultChangesNothing(t *testing.T) {
	t.Parallel()
	f := servesFiles(t)
	f.write("go", "")
	var stop atomic.Bool
	var asking sync.WaitGroup
	refused := atomic.Int64{}
	for _, token := range []string{annsToken, bobsToken} {
		asking.Go(func() {
			for !stop.Load() {
				if !f.admits(token) {
					refused.Add(1)
				}
			}
		})
	}
	for name, c := range map[string]struct{ file, text, says string }{
		"tokens":             {"tokens", "ann=short", "GATEHOUSE_TOKENS: the tokens are invalid"},
		"no tokens":          {"tokens", ",", "GATEHOUSE_TOKENS: no token is left"},
		"models":             {"models.yaml", "models: [{name: main}]", "GATEHOUSE_MODELS: the models are invalid"},
		"policy":             {"policy.yaml", "version: 2", "GATEHOUSE_APPROVAL_POLICY: the policy is invalid"},
		"tools":              {"tools.yaml", "version: 1\ntools: 7", "GATEHOUSE_TOOLS: the tools are invalid"},
		"servers":            {"mcp.json", `{"mcpServers": {"first": {"url": 7}}}`, "GATEHOUSE_MCP_CONFIG"},
		"a platform's token": {"signing", "", "SLACK_SIGNING_SECRET"},
	} {
		f.writes(true)
		if c.file != "mcp.json" { // that file is followed by itself, too
			serversFile(t, f.path("mcp.json"), map[string]string{"first": f.first})
		}
		signing, err := os.ReadFile(f.path("signing"))
		noErr(t, err)
		f.write(c.file, c.text)
		f.hangUp("so nothing was changed")
		f.write("signing", string(signing))
		out := f.app.out.String()
		if !strings.Contains(out, c.says) {
			t.Errorf("%s: it logs %s", name, out)
		}
		if b, cleo := f.admits(bobsToken), f.admits(cleosToken); !b || cleo {
			t.Errorf("%s: bob and cleo are let in: %t, %t", name, b, cleo)
		}
		calls := len(f.keys())
		f.fake.Then(f.fake.call(toolCall("c1", "note.add", `{"text":"milk"}`)), f.fake.say("It is done."))
		f.ask("after " + name)
		f.until("the turn after "+name, f.app, func() bool { return len(f.keys()) == calls+2 })
		if got := f.keys()[calls:]; !slices.Equal(got, []string{"sk-first-0123456789", "sk-first-0123456789"}) {
			t.Errorf("%s: a turn asked with %q", name, got)
		}
		if body := f.fake.lastBody(); strings.Contains(body, "Not today.") || strings.Contains(body, "shop__new") ||
			strings.Contains(body, "second__ping") {
			t.Errorf("%s: the model reads %s", name, body)
		}
	}
	stop.Store(true)
	asking.Wait()
	if n := refused.Load(); n > 0 {
		t.Errorf("%d requests were refused", n)
	}
	f.writes(true)
	f.hangUp("the configuration was read again: ")
	if b, cleo := f.admits(bobsToken), f.admits(cleosToken); b || !cleo {
		t.Errorf("at last, bob and cleo are let in: %t, %t", b, cleo)
	}
}
