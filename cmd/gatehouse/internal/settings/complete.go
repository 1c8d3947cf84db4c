package settings

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/callback"
	"gatehouse/adapters/mcp"
	"gatehouse/adapters/tools"
	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// faults are what is wrong with the settings, one line each, beginning with the key.
type faults []string

// check adds a fault unless ok.
func (f *faults) check(ok bool, key, format string, args ...any) {
	if !ok {
		*f = append(*f, key+": "+fmt.Sprintf(format, args...))
	}
}

// checkFile adds the faults of a file, each in a line of its own below what is said of all.
func (f *faults) checkFile(err error, key, what string) {
	f.check(err == nil, key, "%s:\n    %s", what, strings.ReplaceAll(fmt.Sprint(err), "\n", "\n    "))
}

// complete checks the settings and makes from them what the program uses. It reports every fault, one line each,
// beginning with the key.
func (c *Config) complete() []string {
	var f faults
	c.checkAddresses(&f)
	c.checkLimits(&f)
	f = append(f, c.Model.validate(c.Vendors)...)
	c.chooseAgent(&f)
	known := c.LogFormat == "auto" || c.LogFormat == "json" || c.LogFormat == "text"
	f.check(known, "GATEHOUSE_LOG_FORMAT", "unknown format %q; use auto, json or text", c.LogFormat)
	if c.Keys = list(c.SecretKey); len(c.Keys) > 0 {
		_, err := core.NewSigner(c.Keys...)
		f.check(err == nil, "GATEHOUSE_SECRET_KEY", "%s", core.MessageOf(err))
	}
	c.chooseStreamed(&f)
	c.readTokens(&f)
	c.openPolicy(&f)
	c.readSystemPrompt(&f)
	c.openTools(&f)
	c.readGreeting(&f)
	var err error
	c.Said, err = loadReplies(c.RepliesFile)
	f.checkFile(err, "GATEHOUSE_REPLIES", "the sentences are invalid")
	for _, d := range c.Drivers {
		if s := d.Settings(); s != nil {
			f = append(f, s.Validate()...)
		}
	}
	return append(f, c.Traces.Validate()...)
}

func (c *Config) checkAddresses(f *faults) {
	scheme, rest, _ := strings.Cut(c.DatabaseURL, ":")
	f.check((scheme == "sqlite" || scheme == "postgres" || scheme == "postgresql") && rest != "",
		// its value may hold a password
		"GATEHOUSE_DATABASE_URL", "this is not of the form sqlite:FILE or postgres://…")
	_, port, err := net.SplitHostPort(c.Listen)
	_, numberErr := strconv.ParseUint(port, 10, 16)
	f.check(err == nil && numberErr == nil, "GATEHOUSE_LISTEN",
		"%q is not of the form HOST:PORT, such as 127.0.0.1:8080", c.Listen)
	c.Site, err = access.ParseSite(c.URL)
	f.check(err == nil, "GATEHOUSE_URL", "%s", core.MessageOf(err))
}

// minHeartbeat is a third of which a busy store still answers in.
const minHeartbeat = 100 * time.Millisecond

// minRetention is longer than platforms deliver an event again.
const minRetention = 24 * time.Hour

func (c *Config) checkLimits(f *faults) {
	f.check(c.Workers >= 1, "GATEHOUSE_WORKERS", "%d is too low; use 1 or more", c.Workers)
	f.check(c.ReadBefore >= 0, "GATEHOUSE_READ_BEFORE", "%d must not be negative; 0 means nothing", c.ReadBefore)
	f.check(c.TurnMemory >= 0, "GATEHOUSE_TURN_MEMORY", "%d must not be negative; 0 means no limit", c.TurnMemory)
	f.check(c.Rate >= 0, "GATEHOUSE_RATE", "%d must not be negative; 0 means no limit", c.Rate)
	f.check(c.Snapshots >= 0, "GATEHOUSE_SNAPSHOTS", "%d must not be negative; 0 makes none", c.Snapshots)
	f.check(c.Heartbeat >= minHeartbeat, "GATEHOUSE_LEASE",
		"%s is too short; use %s or more", c.Heartbeat, minHeartbeat)
	f.check(c.MaxMessage >= 1, "GATEHOUSE_MAX_MESSAGE", "%d is too low; use 1 or more, such as 64KiB", c.MaxMessage)
	for key, d := range map[string]time.Duration{
		"GATEHOUSE_ECHO_DELAY": c.EchoDelay, "GATEHOUSE_APPROVAL_TIMEOUT": c.ApprovalTimeout,
		"GATEHOUSE_DRAIN_TIMEOUT": c.DrainTimeout,
		"GATEHOUSE_RETENTION":     c.Retention, "GATEHOUSE_FRESHNESS": c.Freshness,
		"GATEHOUSE_RETENTION_SESSIONS": c.RetentionSessions,
	} {
		f.check(d >= 0, key, "%s must not be negative", d)
	}
	f.check(c.Retention == 0 || c.Retention >= minRetention, "GATEHOUSE_RETENTION",
		"%s is too short; use 24h or more, or 0s to keep everything: a message that a platform delivers again after "+
			"it was removed would be answered again", c.Retention)
	f.check(c.RetentionSessions <= 0 || c.RetentionSessions >= minRetention, "GATEHOUSE_RETENTION_SESSIONS",
		"%s is too short; use 24h or more, or 0s to keep all sessions", c.RetentionSessions)
}

// chooseAgent fills Agent where it is not set.
func (c *Config) chooseAgent(f *faults) {
	if c.Agent == "" {
		c.Agent = "demo"
		if c.Model.Names != "" {
			c.Agent = "llm"
		}
	}
	name, isScript := strings.CutPrefix(c.Agent, "script:")
	switch {
	case c.Agent == "llm":
		f.check(c.Model.Names != "", "GATEHOUSE_AGENT",
			"llm needs a model: set GATEHOUSE_MODEL, such as openai:gpt-5 or anthropic:claude-sonnet-5")
	case c.Agent == "demo" || c.Agent == "echo":
	case isScript:
		script, err := loadScript(name)
		if c.Script = script; err != nil {
			*f = append(*f, scriptFault+strings.ReplaceAll(core.MessageOf(err), "\n", "\n    "))
		}
	default:
		f.check(false, "GATEHOUSE_AGENT", "unknown agent %q; use llm, demo, echo or script:FILE", c.Agent)
	}
}

func (c *Config) openPolicy(f *faults) {
	defaults, err := policy.ParseApprovers(c.Approvers, max(c.ApprovalTimeout, 0), c.Platforms())
	f.check(err == nil, "GATEHOUSE_APPROVERS", "%s", strings.TrimPrefix(core.MessageOf(err), "GATEHOUSE_APPROVERS: "))
	for _, t := range c.Tokens {
		if t.Approver && !slices.Contains(defaults.Approvers, t.ID()) {
			defaults.Approvers = append(defaults.Approvers, t.ID())
		}
	}
	c.Policy, err = policy.Open(c.PolicyFile, defaults)
	f.checkFile(err, "GATEHOUSE_APPROVAL_POLICY", "the policy is invalid")
}

// openTools reads the tools of the file, and the lists of hosts and servers that are reached. Without valid hosts the
// file is not read.
func (c *Config) openTools(f *faults) {
	var err error
	file := c.ToolsFile
	if c.Hosts, err = tools.ParseHosts(c.FetchHosts); err != nil {
		f.check(false, "GATEHOUSE_FETCH_HOSTS", "%s", core.MessageOf(err))
		file = ""
	}
	c.Tools, err = openTools(file, c.Hosts)
	f.checkFile(err, "GATEHOUSE_TOOLS", "the tools are invalid")
	c.Callbacks, err = callback.ParseHosts(c.CallbackHosts)
	f.check(err == nil, "GATEHOUSE_CALLBACK_HOSTS", "%s", core.MessageOf(err))
	c.MCP, err = mcp.Load(c.MCPFile, os.LookupEnv)
	f.check(err == nil, "GATEHOUSE_MCP_CONFIG", "%s", strings.ReplaceAll(core.MessageOf(err), "\n", "\n    "))
}
