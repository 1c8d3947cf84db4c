package main

import (
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/otel"
	"gatehouse/adapters/slack"
	"gatehouse/approvals"
	"gatehouse/core"
)

// Config is the program's own configuration, and below it that of platforms and others, which stands in their own folders. The tags:
// envconfig is the variable, default what holds where it is not set or empty, help what it means; a field without it is such a struct
// itself; secret marks what may also come from the file that KEY_FILE names and is masked when printed ("url": only its password is);
// unit "bytes" allows 64KiB, 1MiB, 1GiB.
type Config struct {
	DatabaseURL     string        `envconfig:"GATEHOUSE_DATABASE_URL" default:"sqlite:gatehouse.db" secret:"url" help:"Where everything is kept: sqlite:FILE, or postgres://USER:PASSWORD@HOST/DATABASE for more than one replica."`
	Listen          string        `envconfig:"GATEHOUSE_LISTEN" default:"127.0.0.1:8080" help:"HOST:PORT of the one HTTP server: what platforms post to, /healthz, /readyz."`
	SecretKey       string        `envconfig:"GATEHOUSE_SECRET_KEY" secret:"all" help:"Signs what buttons carry; several, newest first, with commas between them. None: one is made and kept in the database."`
	Agent           string        `envconfig:"GATEHOUSE_AGENT" default:"demo" help:"Who answers: demo, or echo."`
	EchoDelay       time.Duration `envconfig:"GATEHOUSE_ECHO_DELAY" default:"0s" help:"How long the echo agent thinks."`
	Approvers       string        `envconfig:"GATEHOUSE_APPROVERS" help:"Who may approve changes, as slack:U123,discord:role:789; none: only the person at the terminal, for what was asked there."`
	ApprovalTimeout time.Duration `envconfig:"GATEHOUSE_APPROVAL_TIMEOUT" default:"0s" help:"How long an approval waits for a decision; 0s: for ever."`
	Workers         int           `envconfig:"GATEHOUSE_WORKERS" default:"8" help:"How many turns run at a time in this process."`
	Lease           time.Duration `envconfig:"GATEHOUSE_LEASE" default:"30s" help:"How long what a process held stays with it after it died: conversations, posts, and for 30s at most the hearing of Discord."`
	DrainTimeout    time.Duration `envconfig:"GATEHOUSE_DRAIN_TIMEOUT" default:"20s" help:"How long running turns may go on once the program is told to stop."`
	Retention       time.Duration `envconfig:"GATEHOUSE_RETENTION" default:"2160h" help:"How long ended events, sent posts and decided approvals are kept; 0s: for ever."`
	MaxMessage      int           `envconfig:"GATEHOUSE_MAX_MESSAGE" default:"1MiB" unit:"bytes" help:"The largest message that is taken."`
	Freshness       time.Duration `envconfig:"GATEHOUSE_FRESHNESS" default:"15m" help:"A reply older than this is marked as late when it is sent; 0s: none is."`
	LogLevel        slog.Level    `envconfig:"GATEHOUSE_LOG_LEVEL" default:"info" help:"debug, info, warn or error."`
	LogFormat       string        `envconfig:"GATEHOUSE_LOG_FORMAT" default:"auto" help:"text, json, or auto: text on a terminal."`
	Replies         string        `envconfig:"GATEHOUSE_REPLIES" help:"A YAML file that replaces sentences of gatehouse, for language and tone."`

	Slack   slack.Config
	Discord discord.Config
	Traces  otel.Config
}

// minLease is a third of which a busy store still answers in.
const minLease = 100 * time.Millisecond

// Validate reports everything that is wrong, one line each.
func (c Config) Validate() []string {
	var faults []string
	check := func(ok bool, key, format string, args ...any) {
		if !ok {
			faults = append(faults, key+": "+fmt.Sprintf(format, args...))
		}
	}
	scheme, rest, _ := strings.Cut(c.DatabaseURL, ":")
	check((scheme == "sqlite" || scheme == "postgres" || scheme == "postgresql") && rest != "",
		"GATEHOUSE_DATABASE_URL", "this is not of the form sqlite:FILE or postgres://…") // its value may hold a password
	_, port, err := net.SplitHostPort(c.Listen)
	_, numberErr := strconv.ParseUint(port, 10, 16)
	check(err == nil && numberErr == nil, "GATEHOUSE_LISTEN", "%q is not of the form HOST:PORT, such as 127.0.0.1:8080", c.Listen)
	kind, _, _ := strings.Cut(c.Agent, ":")
	switch {
	case c.Agent == "demo" || c.Agent == "echo":
	case c.Agent == "llm" || kind == "script":
		check(false, "GATEHOUSE_AGENT", "%s is not in this build yet; use demo or echo", kind)
	default:
		check(false, "GATEHOUSE_AGENT", "there is no agent %q; use demo or echo", c.Agent)
	}
	_, err = approvals.ParsePolicy(c.Approvers, 0)
	check(err == nil, "GATEHOUSE_APPROVERS", "%s", strings.TrimPrefix(core.MessageOf(err), "GATEHOUSE_APPROVERS: "))
	check(c.Workers >= 1, "GATEHOUSE_WORKERS", "%d is too few; use 1 or more", c.Workers)
	check(c.Lease >= minLease, "GATEHOUSE_LEASE", "%s is too short; use %s or more", c.Lease, minLease)
	check(c.MaxMessage >= 1, "GATEHOUSE_MAX_MESSAGE", "%d bytes are too few; use 64KiB, for instance", c.MaxMessage)
	for key, d := range map[string]time.Duration{
		"GATEHOUSE_ECHO_DELAY": c.EchoDelay, "GATEHOUSE_APPROVAL_TIMEOUT": c.ApprovalTimeout, "GATEHOUSE_DRAIN_TIMEOUT": c.DrainTimeout,
		"GATEHOUSE_RETENTION": c.Retention, "GATEHOUSE_FRESHNESS": c.Freshness,
	} {
		check(d >= 0, key, "%s must not be negative", d)
	}
	switch c.LogFormat {
	case "auto", "json", "text":
	default:
		check(false, "GATEHOUSE_LOG_FORMAT", "there is no format %q; use auto, json or text", c.LogFormat)
	}
	if c.SecretKey != "" {
		_, err := core.NewSigner(secretKeys(c.SecretKey)...)
		check(err == nil, "GATEHOUSE_SECRET_KEY", "%s", core.MessageOf(err))
	}
	faults = append(faults, c.Slack.Validate()...)
	faults = append(faults, c.Discord.Validate()...)
	if _, _, err := loadReplies(c.Replies); err != nil {
		check(false, "GATEHOUSE_REPLIES", "%s", explain(err))
	}
	return append(faults, c.Traces.Validate()...)
}
