package main

import (
	"encoding/json"
	"math/bits"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/cmd/gatehouse/internal/cli"
)

// discordWalkthrough follows the README of the Discord adapter: no other settings are used, and the application has
// what the manifest names.
type discordWalkthrough struct {
	*discordGateway
	readme
	printed discordManifest
}

// discordManifest is the JSON that gatehouse manifest discord prints.
type discordManifest struct {
	Invite      string
	Permissions []struct{ Name, For string }
	Intents     []struct{ Name, For string }
	Endpoint    string `json:"interactions_endpoint_url"`
	Commands    []map[string]any
}

// allPrivileged are the intents that a new application does not have.
const allPrivileged = discordtest.IntentMembers | discordtest.IntentPresences | discordtest.IntentMessageContent

// newDiscordWalkthrough starts with a new application, and a server that the bot has not joined.
func newDiscordWalkthrough(t *testing.T, args ...string) *discordWalkthrough {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	d := &discordGateway{
		testGateway: &testGateway{t: t, code: make(chan int, 8)},
		discord:     discordtest.Start(t, discordtest.Options{IdentifyEvery: -1, Denied: allPrivileged}),
	}
	w := &discordWalkthrough{discordGateway: d, readme: newReadme(t, discordReadme)}
	d.ann = d.discord.AddUser(discordtest.User{ID: askerID, Name: "ann"})
	d.discord.AddGuild(discordtest.Guild{ID: guildID, Name: "guild", Members: []string{askerID}, WithoutBot: true})
	d.discord.AddChannel(discordtest.Channel{ID: channelID, Guild: guildID, Name: "general"})
	// What the test replaces: Discord's address, and the port.
	t.Setenv("DISCORD_API_URL", d.discord.APIURL())
	t.Setenv("GATEHOUSE_LISTEN", "127.0.0.1:0")

	w.mustContain("New Application", "Application ID", "gatehouse manifest discord --application ID")
	code, text, errs := gatehouse(t,
		append([]string{"manifest", "discord", "--application", d.discord.ApplicationID()}, args...)...)
	if err := json.Unmarshal([]byte(text), &w.printed); err != nil || code != cli.ExitDone || errs != "" {
		t.Fatalf("the manifest is not printed: %d, %v, %s", code, err, errs)
	}
	return w
}

// grants switches on the intents that the manifest names.
func (w *discordWalkthrough) grants() {
	w.t.Helper()
	w.mustContain("switch *Message Content Intent* on")
	denied := allPrivileged
	for _, intent := range w.printed.Intents {
		switch intent.Name {
		case "Message Content Intent":
			denied &^= discordtest.IntentMessageContent
		default:
			w.t.Errorf("the manifest names %q, which this test does not know", intent.Name)
		}
	}
	w.discord.SetDenied(denied)
}

// invites opens the invitation URL: the bot gets the permissions that the URL requests, and none from the role of
// everybody.
func (w *discordWalkthrough) invites() {
	w.t.Helper()
	w.mustContain("Open the address behind `invite`")
	u, err := url.Parse(w.printed.Invite)
	if err != nil || u.Scheme+"://"+u.Host+u.Path != "https://discord.com/oauth2/authorize" ||
		u.Query().Get("client_id") != w.discord.ApplicationID() {
		w.t.Fatalf("%q is no invitation: %v", w.printed.Invite, err)
	}
	if scopes := strings.Fields(u.Query().Get("scope")); !slices.Contains(scopes, "bot") ||
		!slices.Contains(scopes, "applications.commands") {
		w.t.Errorf("it asks for the scopes %v", scopes)
	}
	asked, err := strconv.ParseInt(u.Query().Get("permissions"), 10, 64)
	if err != nil || bits.OnesCount64(uint64(asked)) != len(w.printed.Permissions) {
		w.t.Errorf("it asks for the permissions %d, %v; the manifest names %d", asked, err, len(w.printed.Permissions))
	}
	for _, p := range w.printed.Permissions {
		w.mustContain("| " + p.Name + " | " + p.For + " |")
	}
	w.discord.AddGuild(
		discordtest.Guild{
			ID: guildID, Name: "guild", Members: []string{askerID}, Everyone: discordtest.UseCommands,
			BotPermissions: asked,
		})
}

// sets sets the environment variables that README names.
func (w *discordWalkthrough) sets() {
	w.t.Helper()
	w.mustContain("click *Reset Token*", "*Copy User ID*")
	w.exports(map[string]string{"DISCORD_BOT_TOKEN": w.discord.BotToken(), "GATEHOUSE_APPROVERS": "discord:" + askerID})
}

// serves starts the gateway, and waits until it is ready and has registered the commands that the manifest names.
func (w *discordWalkthrough) serves() {
	w.t.Helper()
	w.mustContain("gatehouse serve")
	w.start()
	w.ready(http.StatusOK)
	if err := w.discord.WaitFor(w.ctx(), func(f *discordtest.Server) bool {
		return len(f.Commands()) == len(w.printed.Commands)
	}); err != nil {
		w.t.Fatal(err)
	}
	var registered []map[string]any
	for _, c := range w.discord.Calls(discordtest.CreateCommand) {
		registered = append(registered, c.Fields)
	}
	if !reflect.DeepEqual(registered, w.printed.Commands) {
		w.t.Errorf("it registered %v, and the manifest names %v", registered, w.printed.Commands)
	}
	for _, name := range w.discord.Commands() {
		w.mustContain("`/" + name + "`")
	}
}

func (w *discordWalkthrough) doctor(want int) (map[string]string, string) {
	w.t.Helper()
	return doctorFinds(w.t, want, w.discord.BotToken())
}

// finds runs the doctor, and expects a state and some words of one check.
func (w *discordWalkthrough) finds(want int, check, state string, words ...string) {
	w.t.Helper()
	states, out := w.doctor(want)
	if states["discord "+check] != state {
		w.t.Errorf("%s is %q, want %q\n%s", check, states["discord "+check], state, out)
	}
	var found []doctorFinding
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		w.t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(f doctorFinding) bool { return f.Name == "discord "+check })
	for _, word := range words {
		if i < 0 || !strings.Contains(found[i].Message+" "+found[i].Mend, word) {
			w.t.Errorf("%s does not contain %q\n%s", check, word, out)
		}
	}
}

// greets posts hello in the channel and waits for the answer in its thread.
func (w *discordWalkthrough) greets() discordtest.Message {
	w.t.Helper()
	w.mustContain("`@gatehouse hello`", "It answers in a thread")
	hello := w.ann.Posts(channelID, w.discord.MentionOfBot()+" hello")
	w.reads(hello.ID, "Hello!")
	return hello
}

// approves does the last step of README.
func (w *discordWalkthrough) approves() {
	w.t.Helper()
	w.mustContain("`@gatehouse note add milk`", "Press *Approve*", "Done: “milk” is in the note book.")
	ask := w.ann.Posts(channelID, w.discord.MentionOfBot()+" note add milk")
	card := w.card(ask.ID, "Add “milk” to the note book.")
	w.ann.Clicks(ask.ID, card.ID, "Approve")
	w.reads(ask.ID, "Done: “milk” is in the note book.")
	w.shows(ask.ID, card.ID, "pproved")
	for _, call := range w.discord.Calls() {
		if call.Status == http.StatusUnauthorized || call.Status == http.StatusForbidden {
			w.t.Errorf("%s needs what the manifest does not ask for (%d)", call.Route, call.Code)
		}
	}
}

// TestReadmeDiscordWalk follows README from a new application to an approved action, and runs the doctor after each
// step.
func TestReadmeDiscordWalk(t *testing.T) {
	w := newDiscordWalkthrough(t)
	id := w.discord.ApplicationID()
	w.sets()
	w.finds(cli.ExitBad, "servers", "fail", "in no server", w.printed.Invite)
	w.finds(cli.ExitBad, "content", "warn", "https://discord.com/developers/applications/"+id+"/bot",
		"Message Content Intent")
	w.finds(cli.ExitBad, "commands", "warn", "gatehouse serve registers them")
	w.grants()
	w.finds(cli.ExitBad, "content", "ok")
	w.invites()
	w.finds(cli.ExitDone, "server guild", "ok")
	w.finds(cli.ExitDone, "events", "warn", "No event has come", "mention the bot")
	w.serves()
	w.finds(cli.ExitDone, "commands", "ok")

	hello := w.greets()
	w.mustContain("where it needs no further mention")
	w.ann.Posts(hello.ID, "calc 2+3*4")
	w.reads(hello.ID, `2+3\*4 = 14`)
	states, out := w.doctor(cli.ExitDone)
	for name, state := range states {
		if state != "ok" {
			t.Errorf("after the first answer: %s is %s\n%s", name, state, out)
		}
	}
	for _, name := range []string{
		"token", "content", "interactions", "gateway", "commands", "server guild", "channels of guild",
		"channel #general", "events", "approver discord:" + askerID,
	} {
		if states["discord "+name] != "ok" {
			t.Errorf("%s was not checked\n%s", name, out)
		}
	}
	w.mustContain("Every line begins with `ok`")
	wantNoFindings(t)
	w.approves()
	wantNoFindings(t)
}

// TestReadmeDiscordWalkOverHTTP does the same with presses and commands over HTTP, at the address in the manifest.
func TestReadmeDiscordWalkOverHTTP(t *testing.T) {
	const public = "https://gate.example"
	w := newDiscordWalkthrough(t, "--http", public)
	w.grants()
	w.invites()
	w.sets()
	page := "https://discord.com/developers/applications/" + w.discord.ApplicationID() + "/information"
	w.mustContain("gatehouse manifest discord --application ID --http https://HOST",
		"*Public Key* under *General Information* to `DISCORD_PUBLIC_KEY`")
	t.Setenv("DISCORD_PUBLIC_KEY", strings.Repeat("ab", 32))
	w.finds(cli.ExitBad, "interactions", "fail", "is not the key of this application", page)
	t.Setenv("DISCORD_PUBLIC_KEY", w.discord.PublicKey())
	w.finds(cli.ExitBad, "interactions", "fail", "has no Interactions Endpoint URL", page,
		"https://HOST/discord/interactions")
	w.serves()

	w.mustContain("*Interactions Endpoint URL*", "`https://HOST/discord/interactions`", "`interactions_endpoint_url`")
	if w.printed.Endpoint != public+"/discord/interactions" {
		t.Errorf("the manifest names the address %q", w.printed.Endpoint)
	}
	w.discord.SetInteractionsURL(strings.Replace(w.printed.Endpoint, public, w.base, 1))
	if err := w.discord.CheckURL(w.ctx()); err != nil {
		t.Fatalf("Discord does not accept the URL: %v", err)
	}
	w.finds(cli.ExitDone, "interactions", "ok", "over HTTP")
	w.greets()
	w.approves()
	for _, i := range w.discord.Interactions() {
		if i.Kind != discordtest.Ping && i.State().Attempt == nil {
			t.Errorf("the interaction %s did not come over HTTP", i.ID)
		}
	}
	wantNoFindings(t)
	t.Setenv("DISCORD_PUBLIC_KEY", "") // as if it were forgotten at the next start
	w.finds(cli.ExitBad, "interactions", "fail", "the bot does not receive them", "clear Interactions Endpoint URL")
}

// TestReadmeDiscordWithoutTheContent checks what README says about a bot without the Message Content Intent, and about
// granting it later.
func TestReadmeDiscordWithoutTheContent(t *testing.T) {
	w := newDiscordWalkthrough(t)
	w.sets()
	w.invites()
	w.serves()
	w.mustContain("Without the *Message Content Intent*",
		"in a thread each message has to mention the bot, `@gatehouse !stop` too", "direct messages, mentions",
		"`/ask`")
	hello := w.greets()
	w.ann.Posts(hello.ID, "calc 1+1") // the bot can't read it
	w.ann.Posts(hello.ID, w.discord.MentionOfBot()+" calc 1+2")
	w.reads(hello.ID, "1+2 = 3")
	w.ann.Posts(hello.ID, w.discord.MentionOfBot()+" !stop")
	w.reads(hello.ID, "Nothing is running")
	w.ann.Says("calc 1+3")
	w.reads(w.discord.DMWith(askerID), "1+3 = 4")
	w.ann.Runs(channelID, "/ask calc 1+4")
	w.reads(channelID, "1+4 = 5")
	for _, m := range w.discord.FromBot(hello.ID) {
		if strings.Contains(m.Shown(), "1+1") {
			t.Errorf("it answered what it can't read: %s", m.Shown())
		}
	}
	w.finds(cli.ExitDone, "content", "warn", "in a thread each message needs a mention")

	w.grants()
	w.stop()
	// no second session may begin within five seconds
	w.settings.store = storeClock(func() time.Time { return time.Now().Add(time.Minute) })
	w.start()
	w.ready(http.StatusOK)
	w.ann.Posts(hello.ID, "calc 1+5")
	w.reads(hello.ID, "1+5 = 6")
	w.finds(cli.ExitDone, "content", "ok")
}

// TestDoctorBesideDiscord runs the doctor against a Discord with one fault at a time.
func TestDoctorBesideDiscord(t *testing.T) {
	w := newDiscordWalkthrough(t)
	w.grants()
	w.sets()
	w.invites()
	w.serves()
	w.greets()
	w.stop()
	for name, c := range map[string]struct {
		check string
		spoil func() (mend func())
	}{
		"a token that was reset": {"token", func() func() { w.discord.RevokeToken(); return w.discord.RestoreToken }},
		"an unknown user": {"approver discord:4004", func() func() {
			t.Setenv("GATEHOUSE_APPROVERS", "discord:"+askerID+",discord:4004")
			return func() { t.Setenv("GATEHOUSE_APPROVERS", "discord:"+askerID) }
		}},
		"an unknown role": {"approver discord:role:4004", func() func() {
			t.Setenv("GATEHOUSE_APPROVERS", "discord:role:4004")
			return func() { t.Setenv("GATEHOUSE_APPROVERS", "discord:"+askerID) }
		}},
		"a channel where it may not post": {"channel #general", func() func() {
			w.discord.DenyBot(channelID, discordtest.SendInThreads)
			return func() { w.discord.SetOverwrites(channelID) }
		}},
		"a channel that it does not see": {"channel " + channelID, func() func() {
			w.discord.SetOverwrites(channelID, discordtest.Overwrite{ID: guildID, Deny: discordtest.ViewChannel})
			return func() { w.discord.SetOverwrites(channelID) }
		}},
		"another application's key": {"interactions", func() func() {
			t.Setenv("DISCORD_PUBLIC_KEY", strings.Repeat("ab", 32))
			return func() { t.Setenv("DISCORD_PUBLIC_KEY", "") }
		}},
	} {
		mend := c.spoil()
		if states, out := w.doctor(cli.ExitBad); states["discord "+c.check] != "fail" {
			t.Errorf("%s: %v\n%s", name, states, out)
		}
		mend()
	}
	w.doctor(cli.ExitDone)
}
