// Package settings reads the program's settings from the environment.
//
// A setting is a field of Config, or of the Config struct of a platform or exporter, with the tags envconfig (the
// variable), default (the value where the variable is not set or empty), help (what it means; {people} stands for ids
// of people), from (where its value is copied from) and, for a secret, secret: "all" masks the whole value when it is
// printed, "url" the passwords and keys in it alone, and KEY_FILE may name a file that holds the value instead.
//
// Load resolves files and empty variables, has envconfig decode each struct in one call, checks the values and makes
// from them what the program uses. It reports all faults at once.
package settings

import (
	"log/slog"
	"strings"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/callback"
	"gatehouse/adapters/mcp"
	"gatehouse/adapters/otel"
	"gatehouse/adapters/tools"
	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
)

// Config is the program's own configuration, and below it that of platforms and exporters, which are declared in their
// own packages.
type Config struct {
	DatabaseURL     string        `envconfig:"GATEHOUSE_DATABASE_URL" default:"sqlite:gatehouse.db" secret:"url" help:"The database: sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE for more than one replica."`
	Listen          string        `envconfig:"GATEHOUSE_LISTEN" default:"127.0.0.1:8080" help:"HOST:PORT of the HTTP server: platform webhooks, /healthz, /readyz."`
	SecretKey       string        `envconfig:"GATEHOUSE_SECRET_KEY" secret:"all" help:"Signs the values of buttons and the audit log, and encrypts the logins to MCP servers. Several keys are separated by commas, newest first. Not set: a key is generated and kept in the database."`
	Agent           string        `envconfig:"GATEHOUSE_AGENT" help:"The agent that answers: llm, demo, echo, or script:FILE for a workflow in HarmonyScript. Not set: llm if a model is set, else demo."`
	EchoDelay       time.Duration `envconfig:"GATEHOUSE_ECHO_DELAY" default:"0s" help:"How long the echo agent waits before it answers. It answers a message that begins with \"at once\" without waiting."`
	Approvers       string        `envconfig:"GATEHOUSE_APPROVERS" help:"Who may approve changes, such as {people}. Not set: only who is at gatehouse's own machine, for requests made there."`
	TokenList       string        `envconfig:"GATEHOUSE_TOKENS" secret:"all" help:"Who may use the OpenHarness endpoint and the web pages: name=token,name!=token; the ! makes an approver. Not set: only browsers and programs on gatehouse's own machine."`
	PromptFile      string        `envconfig:"GATEHOUSE_SYSTEM_PROMPT_FILE" help:"The system prompt of the model: a text file, or a folder of prompts with one that is called system. It may use {{ platform }}, {{ today }} and {{ zone }}."`
	PolicyFile      string        `envconfig:"GATEHOUSE_APPROVAL_POLICY" help:"A YAML file with rules: which calls are allowed, which are denied, and who may approve the others. SIGHUP reads it again."`
	ToolsFile       string        `envconfig:"GATEHOUSE_TOOLS" help:"A YAML file with tools of your own: commands and HTTP requests that the agent may call. SIGHUP reads it again."`
	FetchHosts      string        `envconfig:"GATEHOUSE_FETCH_HOSTS" help:"The hosts that http.fetch and the tools of GATEHOUSE_TOOLS may reach, such as example.com,*.example.org. One that is listed with its port may have a private address. Not set: none."`
	CallbackHosts   string        `envconfig:"GATEHOUSE_CALLBACK_HOSTS" help:"The hosts that decisions are posted to, where a program that asks over HTTP gives a callback_url, such as example.com,*.example.org. One that is listed with its port may have a private address, and be reached over http. Not set: none."`
	MCPFile         string        `envconfig:"GATEHOUSE_MCP_CONFIG" help:"An mcp.json: the MCP servers whose tools the agent may call, as other clients write it. It is read again when it changes, and on SIGHUP."`
	ApprovalTimeout time.Duration `envconfig:"GATEHOUSE_APPROVAL_TIMEOUT" default:"0s" help:"How long an approval stays open. 0s: without limit."`
	Workers         int           `envconfig:"GATEHOUSE_WORKERS" default:"512" help:"How many turns run at the same time in this process. One that waits for a model costs only memory."`
	TurnMemory      Bytes         `envconfig:"GATEHOUSE_TURN_MEMORY" default:"256MiB" help:"How much memory running turns may hold, as estimated: 64 KiB each, and three times the text that they read and add. Above it no turn begins. 0: no limit."`
	ReadBefore      int           `envconfig:"GATEHOUSE_READ_BEFORE" default:"4000" help:"How much of what was said in a thread before the bot was asked there it may read, in tokens (of about three bytes): the first message, and as many of the newest as fit. 0: nothing."`
	Heartbeat       time.Duration `envconfig:"GATEHOUSE_LEASE" default:"5s" help:"How soon other processes take over the conversations and posts of a process that died. For Discord shards it is three times that, 30s at most."`
	Rate            int           `envconfig:"GATEHOUSE_RATE" default:"30" help:"How many messages a minute one person may send. What is above is refused, and said so once a minute. 0: no limit, also for the messages of one person that wait (100 otherwise)."`
	DrainTimeout    time.Duration `envconfig:"GATEHOUSE_DRAIN_TIMEOUT" default:"20s" help:"How long running turns may continue after the program is told to stop."`
	Retention       time.Duration `envconfig:"GATEHOUSE_RETENTION" default:"2160h" help:"How long ended events, sent posts and decided approvals are kept: 24h or more. 0s: without limit."`
	MaxMessage      Bytes         `envconfig:"GATEHOUSE_MAX_MESSAGE" default:"1MiB" help:"The largest message that is accepted."`
	Freshness       time.Duration `envconfig:"GATEHOUSE_FRESHNESS" default:"15m" help:"A reply older than this is marked as late when it is sent. 0s: no reply is."`
	LogLevel        slog.Level    `envconfig:"GATEHOUSE_LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
	LogFormat       string        `envconfig:"GATEHOUSE_LOG_FORMAT" default:"auto" help:"text, json, or auto: text on a terminal, json elsewhere."`
	RepliesFile     string        `envconfig:"GATEHOUSE_REPLIES" help:"A YAML file that replaces gatehouse's own sentences, and the texts of cards and forms, for language and tone."`

	Drivers []core.Driver `ignored:"true"` // the platforms', with their settings

	Model   Model        `ignored:"true"`
	Vendors []llm.Vendor `ignored:"true"` // of models, with their settings

	Traces otel.Config `ignored:"true"`

	// What complete makes from the settings.

	Keys      []string         `ignored:"true"` // from SecretKey, newest first; none: there is one in the database
	Tokens    []access.Token   `ignored:"true"` // from TokenList; none: only true loopback is served
	Policy    *policy.Current  `ignored:"true"` // from PolicyFile, Approvers, Tokens and ApprovalTimeout
	Hosts     tools.Hosts      `ignored:"true"` // from FetchHosts
	Callbacks callback.Hosts   `ignored:"true"` // from CallbackHosts
	Tools     *tools.Current   `ignored:"true"` // from ToolsFile
	MCP       mcp.Config       `ignored:"true"` // from MCPFile
	Script    *Script          `ignored:"true"` // from Agent; nil: the agent is not a script
	Said      `ignored:"true"` // from RepliesFile

	// from PromptFile; nil: none is set. It is rendered with prompt.SystemInput
	SystemPrompt *prompt.Prompt `ignored:"true"`
}

// Platforms are those that ids may begin with.
func (c Config) Platforms() core.Platforms { return core.PlatformsOf(c.Drivers) }

// parts are the structs that hold settings. Each is decoded in a call of its own.
func (c *Config) parts() []any {
	all := []any{c, &c.Model}
	for _, v := range c.Vendors {
		all = append(all, v)
	}
	for _, d := range c.Drivers {
		if s := d.Settings(); s != nil {
			all = append(all, s)
		}
	}
	return append(all, &c.Traces)
}

// list reads texts with commas between them.
func list(text string) []string {
	var all []string
	for _, one := range strings.Split(text, ",") {
		if one = strings.TrimSpace(one); one != "" {
			all = append(all, one)
		}
	}
	return all
}
