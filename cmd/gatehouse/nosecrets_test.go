package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
	"gatehouse/storage/postgres/postgrestest"
)

// marked are secrets by what each of them is.
type marked map[string]string

// mark makes a secret that can be found again.
func (m marked) mark(what string) string {
	m[what] = fmt.Sprintf("mark%02dof-them-all-0123456789", len(m))
	return m[what]
}

// otlpBodies is a collector that keeps all that it is sent.
type otlpBodies struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// ServeHTTP takes anything.
func (l *otlpBodies) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(&l.text, r.URL.Path)
	l.text.Write(body)
}

// String is what was sent.
func (l *otlpBodies) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// storeTools is a tool that says all that it knows: its arguments, one of which is secret, and its environment.
const storeTools = `version: 1
tools:
  - name: shop.store
    description: Stores a PIN.
    risk: write
    arguments:
      type: object
      properties: {pin: {type: string, writeOnly: true}, to: {type: string}}
      required: [pin, to]
      additionalProperties: false
    env: [SHOP_TOKEN]
    command: [sh, -c, 'cat; env']
`

// TestLaw8_NoSecretLeaves: after a drive with more than twenty marked secrets none of them is in the log, also at
// debug, in traces with content, metrics, cards, evidence, errors, pages, or what any command prints.
func TestLaw8_NoSecretLeaves(t *testing.T) {
	secrets, folder := marked{}, t.TempDir()
	e := sqliteFile
	if os.Getenv(postgrestest.Key) != "" {
		e = postgresServer
	}
	var collector otlpBodies
	to := httptest.NewServer(&collector)
	t.Cleanup(to.Close)
	first, second := vendors["OpenAI"](t), vendors["Anthropic"](t)
	told, config := useTellingServer(t)
	for i, secret := range told {
		secrets[fmt.Sprint("of the MCP server ", i)] = secret
	}
	tools := filepath.Join(folder, "tools.yaml")
	noErr(t, os.WriteFile(tools, []byte(storeTools), 0o600))
	anns, bobs, agents := secrets.mark("ann's token"), secrets.mark("bob's token"), secrets.mark("an agent's token")

	p := newSlackProcessWith(t, e, slacktest.Options{
		BotToken: "xoxb-" + secrets.mark("Slack's bot token"), AppToken: "xapp-" + secrets.mark("Slack's app token"),
		SigningSecret: secrets.mark("Slack's signing secret"),
	},
		"GATEHOUSE_LOG_LEVEL=debug", "GATEHOUSE_TRACE_CONTENT=true", "GATEHOUSE_MCP_CONFIG="+config,
		"GATEHOUSE_TOOLS="+tools, "SHOP_TOKEN="+secrets.mark("a tool's variable"),
		"GATEHOUSE_TOKENS=ann="+anns+",bob!="+bobs+",agent="+agents,
		"GATEHOUSE_SECRET_KEY="+secrets.mark("the secret key"),
		"GATEHOUSE_METRICS_TOKEN="+secrets.mark("the token of metrics"),
		"OTEL_EXPORTER_OTLP_ENDPOINT="+strings.Replace(to.URL, "//",
			"//user:"+secrets.mark("in the collector's URL")+"@", 1),
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20"+secrets.mark("the collector's header"),
		"OTEL_METRICS_EXPORTER=otlp", "OTEL_METRIC_EXPORT_INTERVAL=200",
		"GATEHOUSE_MODEL=openai:gpt-test,anthropic:claude-test",
		"OPENAI_BASE_URL="+first.env["OPENAI_BASE_URL"], "OPENAI_API_KEY="+secrets.mark("a vendor's key"),
		"ANTHROPIC_BASE_URL="+second.env["ANTHROPIC_BASE_URL"],
		"ANTHROPIC_API_KEY="+secrets.mark("another vendor's key"))
	p.env = append(p.env, "SLACK_APP_TOKEN="+p.slack.AppToken())
	if at, isPostgres := strings.CutPrefix(p.url, "postgres://"); isPostgres {
		user, server, _ := strings.Cut(at, "@")
		user, _, _ = strings.Cut(user, ":")
		p.url = "postgres://" + user + ":" + secrets.mark("the database's password") + "@" + server
	}
	discord := newDiscordGateway(t, discordtest.Options{
		BotToken: "OTAwMDAw.discord." + secrets.mark("Discord's token"),
	})
	p.env = append(p.env, "DISCORD_BOT_TOKEN="+discord.discord.BotToken(), "DISCORD_API_URL="+discord.discord.APIURL())
	p.open()
	noErr(t, discord.discord.WaitForSessions(p.ctx(), 1))
	p.until("the MCP server", p.app, func() bool { return strings.Contains(p.app.out.String(), "the MCP server runs") })

	// a call with a secret argument is approved, and its tool tells all that it knows; one of a server does, too
	pin, typed := secrets.mark("a secret argument"), "ghp_7Kq2mVx9TzR4bWn8LcJ5hYd1GfS6pAe3QuXo"
	first.Then(first.fail(http.StatusUnauthorized, "invalid_api_key", "the key "+secrets["a vendor's key"]+" is wrong"),
		first.call(toolCall("c3", "tell.look", `{}`)))
	second.Then(second.call(toolCall("c1", "shop.store", `{"pin":"`+pin+`","to":"eu"}`)))
	first.Think(func(llmtest.Received) llmtest.Answer { return first.say("Done.") })
	second.Think(func(llmtest.Received) llmtest.Answer { return second.say("Done.") })
	ask := p.ann.Posts("C1", p.slack.MentionOfBot()+" store my PIN, my token is "+typed)
	card := p.card("C1", ask.TS, "shop.store")
	id, pages := string(p.approvals()[0].ID), visit(t, p.at, bobs)
	where, err := url.Parse(p.at)
	noErr(t, err)
	for _, c := range pages.Jar.Cookies(where) {
		secrets["the cookie "+c.Name] = c.Value
	}
	places := map[string]string{}
	look := func(when string) {
		for _, path := range []string{
			"/", "/approvals", "/sessions", "/queue", "/readyz", "/approvals/" + id,
		} {
			text, err := io.ReadAll(pages.do(http.MethodGet, path, "", "", "").Body)
			noErr(t, err)
			places[when+" the page "+path] = string(text)
		}
	}
	look("before")
	p.bob.Clicks("C1", card.TS, "approve")
	p.reads("C1", ask.TS, "Done.")
	p.ann.Says("look again")
	discord.ann.Posts(channelID, discord.discord.MentionOfBot()+" hello")
	client := agentClient{t, p.at, agents}
	_, state, _ := client.do(http.MethodPost, "/v1/approvals", "k1", `{"tool":"deploy","arguments":{"to":"eu"}}`)
	if state.Secret != "" {
		secrets["the secret of callbacks"] = state.Secret
	}
	p.until("the end of all", p.app, p.settled)
	look("after")

	// errors
	for path, token := range map[string]string{"/metrics": anns, "/v1/approvals": secrets["the token of metrics"]} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.at+path, nil)
		noErr(t, err)
		q.Header.Set("Authorization", "Bearer "+token+"x")
		answer, err := http.DefaultClient.Do(q)
		noErr(t, err)
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		places["the refusal of "+path] = fmt.Sprint(answer.Status, string(text))
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.at+"/metrics", nil)
	noErr(t, err)
	q.Header.Set("Authorization", "Bearer "+secrets["the token of metrics"])
	answer, err := http.DefaultClient.Do(q)
	noErr(t, err)
	text, _ := io.ReadAll(answer.Body)
	answer.Body.Close()
	places["the metrics"] = string(text)

	// commands
	events := p.events(core.EventFilter{})
	event := fmt.Sprint(events[len(events)-1].Seq) // the first message
	for _, line := range []string{
		"doctor", "doctor --json", "config", "config --json", "queue", "queue --json", "usage", "tools list",
		"mcp list",
		"approvals list --json", "approvals show " + id, "approvals show " + id + " --json", "approvals log --json",
		"turns list --json", "turns show " + event, "turns show " + event + " --json",
		"turns show " + event + " --evidence", "sessions list --json", "deadletters list --json",
	} {
		c := p.workbench.start(nil, strings.Fields(line)...)
		c.quit(t)
		places[line] = c.out.String()
	}
	for what, env := range map[string]string{
		"a database that is away": "GATEHOUSE_DATABASE_URL=postgres://gate:" + secrets.mark("another password") +
			"@127.0.0.1:1/g?sslmode=disable&connect_timeout=1",
		"a database of an unknown kind": "GATEHOUSE_DATABASE_URL=mysql://gate:" +
			secrets.mark("a third password") + "@db/g",
		"a short key":           "GATEHOUSE_SECRET_KEY=mark-short",
		"tokens without names":  "GATEHOUSE_TOKENS=" + secrets.mark("a token without a name"),
		"headers that are none": "OTEL_EXPORTER_OTLP_HEADERS=" + secrets.mark("a header without a name"),
	} {
		c := p.workbench.start([]string{env}, "doctor")
		c.quit(t)
		places[what] = c.out.String()
	}
	secrets["a short key"] = "mark-short"

	p.signal(syscall.SIGTERM)
	p.app.quit(t)
	places["the log"], places["traces and metrics that were sent"] = p.app.out.String(), collector.String()
	posted, err := json.Marshal(p.slack.Messages("C1"))
	noErr(t, err)
	places["what Slack shows"] = string(posted)
	places["what Discord shows"] = discord.discord.Dump()
	if len(secrets) < 20 || !strings.Contains(collector.String(), "/v1/traces") ||
		!strings.Contains(collector.String(), "/v1/metrics") || !strings.Contains(places["the log"], "DEBUG") ||
		!strings.Contains(places["the metrics"], "gatehouse_mcp_calls_total") ||
		!strings.Contains(places["turns show "+event+" --evidence"], "shop.store") {
		t.Errorf("there are %d secrets; the drive did not reach all: %d places", len(secrets), len(places))
	}
	for place, text := range places {
		for what, secret := range secrets {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("%s has %s: %s", place, what, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
	for _, place := range []string{"the log", "the metrics", "traces and metrics that were sent"} {
		if at := strings.Index(places[place], typed); at >= 0 {
			t.Errorf("%s has the token that ann typed: %s", place, places[place][max(0, at-200):at+20])
		}
	}
}
