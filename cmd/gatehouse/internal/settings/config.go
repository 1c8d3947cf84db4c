// Package settings reads the program's settings from the environment.
//
// A setting is a field of Config, or of the Config struct of a platform or exporter, such as
//
//	Listen string `envconfig:"GATEHOUSE_LISTEN" default:"127.0.0.1:8080"`
//
// Its tags are envconfig (the variable), default (the value where the variable is not set or empty), help (what it
// means, if help.go does not say it; {people} stands for ids of people), from (where its value is copied from) and, for
// a secret, secret: "all" masks the whole value when it is printed, "url" the passwords and keys in it alone, and
// KEY_FILE may name a file that holds the value instead.
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
	"gatehouse/core/greeting"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
)

// Config is the program's own configuration, and below it that of platforms and exporters, which are declared in their
// own packages.
type Config struct {
	DatabaseURL       string        `envconfig:"GATEHOUSE_DATABASE_URL" default:"sqlite:gatehouse.db" secret:"url"`
	Listen            string        `envconfig:"GATEHOUSE_LISTEN" default:"127.0.0.1:8080"`
	URL               string        `envconfig:"GATEHOUSE_URL"`
	SecretKey         string        `envconfig:"GATEHOUSE_SECRET_KEY" secret:"all"`
	Agent             string        `envconfig:"GATEHOUSE_AGENT"`
	EchoDelay         time.Duration `envconfig:"GATEHOUSE_ECHO_DELAY" default:"0s"`
	Approvers         string        `envconfig:"GATEHOUSE_APPROVERS"`
	TokenList         string        `envconfig:"GATEHOUSE_TOKENS" secret:"all"`
	MetricsToken      string        `envconfig:"GATEHOUSE_METRICS_TOKEN" secret:"all"`
	PromptFile        string        `envconfig:"GATEHOUSE_SYSTEM_PROMPT_FILE"`
	PolicyFile        string        `envconfig:"GATEHOUSE_APPROVAL_POLICY"`
	ToolsFile         string        `envconfig:"GATEHOUSE_TOOLS"`
	FetchHosts        string        `envconfig:"GATEHOUSE_FETCH_HOSTS"`
	CallbackHosts     string        `envconfig:"GATEHOUSE_CALLBACK_HOSTS"`
	MCPFile           string        `envconfig:"GATEHOUSE_MCP_CONFIG"`
	ApprovalTimeout   time.Duration `envconfig:"GATEHOUSE_APPROVAL_TIMEOUT" default:"0s"`
	Workers           int           `envconfig:"GATEHOUSE_WORKERS" default:"512"`
	TurnMemory        Memory        `envconfig:"GATEHOUSE_TURN_MEMORY" default:"half"`
	ReadBefore        int           `envconfig:"GATEHOUSE_READ_BEFORE" default:"4000"`
	Heartbeat         time.Duration `envconfig:"GATEHOUSE_LEASE" default:"5s"`
	Rate              int           `envconfig:"GATEHOUSE_RATE" default:"30"`
	DrainTimeout      time.Duration `envconfig:"GATEHOUSE_DRAIN_TIMEOUT" default:"20s"`
	Retention         time.Duration `envconfig:"GATEHOUSE_RETENTION" default:"2160h"`
	RetentionSessions time.Duration `envconfig:"GATEHOUSE_RETENTION_SESSIONS" default:"0s"`
	Snapshots         int           `envconfig:"GATEHOUSE_SNAPSHOTS" default:"3"`
	MaxMessage        Bytes         `envconfig:"GATEHOUSE_MAX_MESSAGE" default:"1MiB"`
	Freshness         time.Duration `envconfig:"GATEHOUSE_FRESHNESS" default:"15m"`
	LogLevel          slog.Level    `envconfig:"GATEHOUSE_LOG_LEVEL" default:"info"`
	LogFormat         string        `envconfig:"GATEHOUSE_LOG_FORMAT" default:"auto"`
	Streaming         string        `envconfig:"GATEHOUSE_STREAMING" default:"all"`
	RepliesFile       string        `envconfig:"GATEHOUSE_REPLIES"`
	GreetingFile      string        `envconfig:"GATEHOUSE_GREETING_FILE"`

	Drivers []core.Driver `ignored:"true"` // the platforms', with their settings

	Model   Model        `ignored:"true"`
	Vendors []llm.Vendor `ignored:"true"` // of models, with their settings

	Traces otel.Config `ignored:"true"`

	// What complete makes from the settings.

	Keys      []string          `ignored:"true"` // from SecretKey, newest first; none: there is one in the database
	Tokens    []access.Token    `ignored:"true"` // from TokenList; none: only true loopback is served
	Metrics   access.Secret     `ignored:"true"` // from MetricsToken
	Site      access.Site       `ignored:"true"` // from URL
	Policy    *policy.Current   `ignored:"true"` // from PolicyFile, Approvers, Tokens and ApprovalTimeout
	Hosts     tools.Hosts       `ignored:"true"` // from FetchHosts
	Callbacks callback.Hosts    `ignored:"true"` // from CallbackHosts
	Tools     *tools.Current    `ignored:"true"` // from ToolsFile
	MCP       mcp.Config        `ignored:"true"` // from MCPFile
	Script    *Script           `ignored:"true"` // from Agent; nil: the agent is not a script
	Greeting  greeting.Greeting `ignored:"true"` // from GreetingFile, Agent and the model
	Streamed  []string          `ignored:"true"` // from Streaming: the platforms whose turns are shown while they run
	Said      `ignored:"true"`  // from RepliesFile

	// from PromptFile; nil: none is set. It is rendered with prompt.SystemInput
	SystemPrompt *prompt.Prompt `ignored:"true"`

	settings []Setting // as they were read
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
