package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/cli"
)

// slackWalkthrough follows the README of the Slack adapter: no other settings are used, and the app is made from the
// manifest.
type slackWalkthrough struct {
	*testGateway
	readme // the adapter's README
}

// newSlackWalkthrough makes the app from the printed manifest.
func newSlackWalkthrough(t *testing.T, args ...string) *slackWalkthrough {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	code, text, errs := gatehouse(t, append([]string{"manifest", "slack"}, args...)...)
	if code != cli.ExitDone || errs != "" {
		t.Fatalf("the manifest is not printed: %d, %s", code, errs)
	}
	var m slackgo.Manifest
	noErr(t, json.Unmarshal([]byte(text), &m))
	w := &slackWalkthrough{testGateway: &testGateway{t: t, code: make(chan int, 1)}}
	w.slack = slacktest.Start(t, slacktest.Options{
		BotName: m.Features.BotUser.DisplayName, Scopes: m.OAuthConfig.Scopes.Bot,
		Subscriptions: m.Settings.EventSubscriptions.BotEvents,
	})
	w.ann = w.slack.AddUser(slacktest.User{ID: "U1ANN", Name: "ann", RealName: "Ann"})
	w.slack.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1ANN"}})
	w.readme = newReadme(t, slackReadme)
	// What the test replaces: Slack's address, and the port.
	t.Setenv("SLACK_API_URL", w.slack.APIURL())
	t.Setenv("GATEHOUSE_LISTEN", "127.0.0.1:0")
	return w
}

// slackReadme and discordReadme are read before a test changes the working directory.
var slackReadme, discordReadme = readFile("../../adapters/slack/README.md"),
	readFile("../../adapters/discord/README.md")

func readFile(name string) string { text, _ := os.ReadFile(name); return string(text) }

// newReadme fails if the text is empty.
func newReadme(t *testing.T, text string) readme {
	t.Helper()
	if text == "" {
		t.Fatal("there is no README of the platform")
	}
	return readme{t, text}
}

// readme is the README of an adapter.
type readme struct {
	test *testing.T
	text string
}

// mustContain fails unless README contains these texts.
func (r readme) mustContain(words ...string) {
	r.test.Helper()
	text := strings.Join(strings.Fields(r.text), " ")
	for _, word := range words {
		if !strings.Contains(text, word) {
			r.test.Errorf("README does not contain %q", word)
		}
	}
}

// exports sets the variables that README exports, to the platform's values.
func (r readme) exports(values map[string]string) {
	r.test.Helper()
	exported := []string{}
	for _, m := range regexp.MustCompile(`export ([A-Z_]+)=`).FindAllStringSubmatch(r.text, -1) {
		exported = append(exported, m[1])
		if value := values[m[1]]; value != "" {
			r.test.Setenv(m[1], value)
		} else {
			r.test.Errorf("README exports %s, which this test does not know", m[1])
		}
	}
	if len(exported) != len(values) {
		r.test.Fatalf("README exports %v", exported)
	}
}

// exports sets the variables that README exports. instead replaces some of their names.
func (w *slackWalkthrough) exports(instead map[string]string) {
	w.t.Helper()
	exported := []string{}
	for _, m := range regexp.MustCompile(`export ([A-Z_]+)=`).FindAllStringSubmatch(w.text, -1) {
		key := m[1]
		if other, ok := instead[key]; ok {
			key = other
		}
		exported = append(exported, key)
		switch key {
		case "SLACK_BOT_TOKEN":
			w.t.Setenv(key, w.slack.BotToken())
		case "SLACK_APP_TOKEN":
			w.t.Setenv(key, w.slack.AppToken())
		case "SLACK_SIGNING_SECRET":
			w.t.Setenv(key, w.slack.SigningSecret())
		case "GATEHOUSE_APPROVERS":
			w.t.Setenv(key, "slack:U1ANN")
		default:
			w.t.Errorf("README exports %s, which this test does not know", key)
		}
	}
	if len(exported) != 3 {
		w.t.Fatalf("README exports %v", exported)
	}
}

// gatehouse runs a command to its end.
func gatehouse(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	code = run(ctx, args, cli.Stdio{In: strings.NewReader(""), Out: &stdout, Err: &stderr}, platforms)
	return code, stdout.String(), stderr.String()
}

// doctor runs the doctor and returns the state of each check, and the output.
func (w *slackWalkthrough) doctor(want int) (map[string]string, string) {
	w.t.Helper()
	return doctorFinds(w.t, want, w.slack.BotToken(), w.slack.AppToken(), w.slack.SigningSecret())
}

// doctorFinding is an element of the output of doctor --json.
type doctorFinding struct{ Name, State, Message, Mend string }

func doctorFinds(t *testing.T, want int, secrets ...string) (states map[string]string, out string) {
	t.Helper()
	code, out, errs := gatehouse(t, "doctor", "--json")
	var found []doctorFinding
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != want || errs != "" {
		t.Fatalf("doctor ends with %d, want %d: %v\n%s%s", code, want, err, out, errs)
	}
	states = map[string]string{}
	for _, f := range found {
		states[f.Name] = f.State
	}
	for _, secret := range secrets {
		if strings.Contains(out, secret) {
			t.Errorf("doctor prints a secret:\n%s", out)
		}
	}
	return states, out
}

// wantNoFindings fails unless every line that the doctor prints begins with ok.
func wantNoFindings(t *testing.T) {
	t.Helper()
	if code, text, _ := gatehouse(t, "doctor"); code != cli.ExitDone ||
		slices.ContainsFunc(strings.Split(strings.TrimSpace(text), "\n"), func(line string) bool {
			hint := strings.HasPrefix(strings.TrimSpace(line), "→") // of a line that is ok: what could be better
			return line != "" && !hint && !strings.HasPrefix(line, "ok ") && !strings.HasSuffix(line, "0 failed.")
		}) {
		t.Errorf("not every line of the doctor begins with ok:\n%s", text)
	}
}

// TestReadmeSlackWalk follows README from a new app to an approved action. The numbers are those of README's steps.
func TestReadmeSlackWalk(t *testing.T) {
	w := newSlackWalkthrough(t)                                                                         // 1
	w.mustContain("gatehouse manifest slack", "From a manifest", "Install App", "Bot User OAuth Token", // 2
		"App-Level Tokens", "connections:write", "Copy member ID") // 3, 4
	w.exports(nil) // 5
	w.mustContain("gatehouse serve")
	w.start()
	w.ready(http.StatusOK)
	states, out := w.doctor(cli.ExitBad)
	if states["slack channels"] != "fail" || !strings.Contains(out, "/invite @gatehouse") ||
		states["slack events"] != "warn" {
		t.Errorf("before the invitation the doctor finds %v\n%s", states, out)
	}
	w.mustContain("/invite @gatehouse")
	w.slack.Invite("C1", w.slack.BotUserID()) // 6
	states, out = w.doctor(cli.ExitDone)
	if states["slack events"] != "warn" || !strings.Contains(out, "@gatehouse hello") {
		t.Errorf("before the first mention the doctor finds %v\n%s", states, out)
	}

	w.mustContain("@gatehouse hello")
	hello := w.ann.Posts("C1", w.slack.MentionOfBot()+" hello") // 7
	w.reads("C1", hello.TS, "Hello!")
	states, out = w.doctor(cli.ExitDone) // 8
	for name, state := range states {
		if state != "ok" {
			t.Errorf("after the first answer: %s is %s\n%s", name, state, out)
		}
	}
	for _, name := range []string{
		"slack token", "slack scopes", "slack socket", "slack channels", "slack events", "slack approver slack:U1ANN",
	} {
		if states[name] != "ok" {
			t.Errorf("%s was not checked\n%s", name, out)
		}
	}
	wantNoFindings(t)

	w.approve() // 9
	if n := w.slack.UnknownMethods(); len(n) > 0 {
		t.Errorf("Slack knows no %v", n)
	}
	for _, call := range w.slack.Calls() {
		if call.Error == "missing_scope" {
			t.Errorf("%s needs a scope that the manifest does not ask for", call.Method)
		}
	}
}

// approve does the last step of README.
func (w *slackWalkthrough) approve() {
	w.t.Helper()
	w.mustContain("@gatehouse note add milk", "Press *Approve*", "Done: “milk” is in the note book.")
	ask := w.ann.Posts("C1", w.slack.MentionOfBot()+" note add milk")
	card := w.card("C1", ask.TS, "Add “milk” to the note book.")
	w.ann.Clicks("C1", card.TS, "Approve")
	w.reads("C1", ask.TS, "Done: “milk” is in the note book.")
	w.shows("C1", card.TS, "pproved", 0)
}

// TestReadmeSlackWalkOverHTTP does the same over HTTP, at the addresses in the manifest.
func TestReadmeSlackWalkOverHTTP(t *testing.T) {
	const public = "https://gate.example"
	w := newSlackWalkthrough(t, "--http", public)
	w.mustContain("gatehouse manifest slack --http https://HOST", "Signing Secret", "Event Subscriptions",
		"Request URL")
	w.exports(map[string]string{"SLACK_APP_TOKEN": "SLACK_SIGNING_SECRET"})
	w.start()
	var m slackgo.Manifest
	if _, text, _ := gatehouse(t, "manifest", "slack", "--http", public); json.Unmarshal([]byte(text), &m) != nil {
		t.Fatal(text)
	}
	proxied := func(address string) string { return strings.Replace(address, public, w.base, 1) }
	w.slack.SendTo(slacktest.Addresses{
		Events:       proxied(m.Settings.EventSubscriptions.RequestUrl),
		Interactions: proxied(m.Settings.Interactivity.RequestUrl),
		Commands:     proxied(m.Features.SlashCommands[0].Url),
	})
	verification, challenge := w.slack.VerifyURL()
	if err := verification.Wait(w.ctx()); err != nil ||
		!strings.Contains(string(verification.Attempts()[0].Answer), challenge) {
		t.Fatalf("the Request URL can't be verified: %v", err)
	}
	w.ready(http.StatusOK)
	w.slack.Invite("C1", w.slack.BotUserID())
	hello := w.ann.Posts("C1", w.slack.MentionOfBot()+" hello")
	w.reads("C1", hello.TS, "Hello!")
	states, out := w.doctor(cli.ExitDone)
	if _, asked := states["slack socket"]; states["slack http"] != "ok" || asked {
		t.Errorf("the doctor finds %v\n%s", states, out)
	}
	w.approve()
}

// TestDoctorBesideSlack runs the doctor against a Slack with one fault at a time.
func TestDoctorBesideSlack(t *testing.T) {
	w := newSlackWalkthrough(t)
	w.exports(nil)
	w.slack.Invite("C1", w.slack.BotUserID())
	for name, spoil := range map[string]func() (mend func()){
		"slack token": func() func() { w.slack.RevokeToken(); return w.slack.RestoreToken },
		"slack socket": func() func() {
			t.Setenv("SLACK_APP_TOKEN", "xapp-of-another-app")
			return func() { t.Setenv("SLACK_APP_TOKEN", w.slack.AppToken()) }
		},
		"slack approver slack:U404": func() func() {
			t.Setenv("GATEHOUSE_APPROVERS", "slack:U1ANN,slack:U404")
			return func() { t.Setenv("GATEHOUSE_APPROVERS", "slack:U1ANN") }
		},
	} {
		mend := spoil()
		if states, out := w.doctor(cli.ExitBad); states[name] != "fail" {
			t.Errorf("%s: %v\n%s", name, states, out)
		}
		mend()
	}
	w.doctor(cli.ExitDone)
}
