package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/mcp"
	"gatehouse/approvals/policy"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/strictjson"
	"gatehouse/core/tool"
)

// Explain is gatehouse approvals explain. It needs no database.
type Explain struct {
	cli.JSONFlag
	Policy       string   `placeholder:"FILE" help:"The policy's file. Not given: GATEHOUSE_APPROVAL_POLICY."`
	Tool         string   `placeholder:"TOOL" help:"The name of the tool."`
	All          bool     `help:"${explain_all}"`
	Server       string   `placeholder:"NAME" help:"With --all: only the tools of this MCP server."`
	Risk         string   `enum:",read,write,destructive" default:"" placeholder:"RISK" help:"${explain_risk}"`
	Args         string   `placeholder:"JSON" help:"The arguments of the call, a JSON object."`
	As           string   `placeholder:"ID" help:"Who asks: an id, such as ${person}, or person:NAME."`
	Group        []string `placeholder:"ID" sep:"none" help:"${explain_group}"`
	By           string   `placeholder:"ID" help:"Who would decide: an id or person:NAME."`
	ByGroup      []string `placeholder:"ID" sep:"none" help:"${explain_by_group}"`
	Conversation string   `placeholder:"ID" help:"The conversation that the request is made in."`
}

// Validate says which flags do not go together.
func (c Explain) Validate() error {
	switch {
	case c.All && c.Tool+c.Risk+c.By != "":
		return errors.New("--all explains every tool; it can't be combined with --tool, --risk or --by")
	case c.All:
		return nil
	case c.Server != "":
		return errors.New("--server needs --all")
	}
	var missing []string
	for flag, value := range map[string]string{"--tool=TOOL": c.Tool, "--args=JSON": c.Args, "--as=ID": c.As} {
		if value == "" {
			missing = append(missing, flag)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
}

// explanation is the JSON output.
type explanation struct {
	Rule      *string      `json:"rule"`
	Action    core.Verdict `json:"action"`
	Why       string       `json:"why"`
	Approvers []string     `json:"approvers"`
	Quorum    int          `json:"quorum"`
	Vetoes    int          `json:"vetoes"`
	Self      bool         `json:"self"`
	Expires   string       `json:"expires"`
	MayDecide *bool        `json:"may_decide"`
}

// Run prints the rule.
func (c Explain) Run(ctx context.Context, a *cli.App, agent Agent) error {
	current, err := c.policy(a)
	if err != nil {
		return err
	}
	if _, err := object(cmp.Or(c.Args, "{}")); err != nil {
		return err
	}
	cfg, _, _ := a.Settings.Read() // policy has told the faults
	known := people{core.PlatformsOf(a.Settings.Platforms()), cfg.Tokens}
	requester, err := actor(current, known, "--as", cmp.Or(c.As, core.LocalPerson), c.Group)
	if err != nil {
		return err
	}
	turn := core.Turn{Actor: requester, Conversation: core.ConversationID(c.Conversation)}
	if c.All {
		return c.all(ctx, a, agent.Tools(), current, turn)
	}
	c.warnOfServer(a)
	call := core.Call{Tool: c.Tool, Arguments: json.RawMessage(c.Args), Risk: c.risk(agent.Tools())}
	d := current.Decide(turn, call)
	view := viewDecision(d)
	refusal := ""
	if c.By != "" {
		decider, err := actor(current, known, "--by", c.By, c.ByGroup)
		if err != nil {
			return err
		}
		may := d.Rule.Verdict == core.VerdictAsk && d.Rule.MayDecide(decider, requester)
		view.MayDecide, refusal = &may, why(d.Rule, decider, requester)
	} else if len(c.ByGroup) > 0 {
		return core.Errorf(core.Invalid, "--by-group says where the decider is in; it needs --by.")
	}
	if c.JSON {
		return a.PrintJSON(view)
	}
	c.print(a, d, call.Risk, view, refusal)
	return nil
}

// warnOfServer warns of a tool of an MCP server: what the server says of it is known with --all alone.
func (c Explain) warnOfServer(a *cli.App) {
	cfg, _, _ := a.Settings.Read() // policy has told the faults
	server, _, _ := strings.Cut(c.Tool, ".")
	if slices.ContainsFunc(cfg.MCP.Servers, func(s mcp.Server) bool { return s.Name == server }) {
		a.Warn(c.Tool + " is explained without its risk and annotations, because its MCP server is not asked. For " +
			"these, run gatehouse approvals explain --all --server " + server + ".")
	}
}

// policy is that of the flag, or the configured one. A configured one that the flag replaces may be invalid.
func (c Explain) policy(a *cli.App) (*policy.Policy, error) {
	cfg, _, faults := a.Settings.Read()
	if c.Policy != "" {
		faults = slices.DeleteFunc(faults, func(f string) bool {
			return strings.HasPrefix(f, "GATEHOUSE_APPROVAL_POLICY:")
		})
	}
	if len(faults) > 0 {
		return nil, settings.Invalid(faults)
	}
	if c.Policy == "" {
		return cfg.Policy.Policy(), nil
	}
	p, err := policy.Load(c.Policy, cfg.Policy.Defaults())
	if err != nil {
		return nil,
			core.Errorf(core.Invalid, "The policy is invalid:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	}
	return p, nil
}

// risk is that of the flag, of the tool, or destructive.
func (c Explain) risk(tools *tool.Registry) core.Risk {
	switch c.Risk {
	case "read":
		return core.ReadOnly
	case "write":
		return core.Ordinary
	case "destructive":
		return core.Dangerous
	}
	if t, known := tools.Get(c.Tool); known {
		return t.CallRisk()
	}
	return core.Dangerous
}

// object checks the arguments of a call.
func object(text string) (*strictjson.Value, error) {
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		return nil, core.Errorf(core.Invalid, "--args is not valid JSON: %v. Write an object, such as '{\"amount\": "+
			"2000}'.", err)
	}
	if v.Kind != strictjson.Object {
		return nil, core.Errorf(core.Invalid, "--args is not a JSON object. Write one, such as '{\"amount\": 2000}'.")
	}
	return v, nil
}

// people are whom a flag may name.
type people struct {
	core.Platforms
	tokens []access.Token
}

// actor is who a flag names. A person acts from their first account; a name without a platform is that of a token.
func actor(p *policy.Policy, known people, flag, id string, groups []string) (core.Actor, error) {
	for _, t := range known.tokens {
		if t.Name == id && id != core.LocalPerson {
			id = t.ID()
		}
	}
	if name, ok := strings.CutPrefix(id, "person:"); ok {
		accounts := p.Accounts(name)
		if len(accounts) == 0 {
			return core.Actor{}, core.Errorf(core.Invalid, "%s: the policy has no person %q. Use a name of its "+
				"section people, or an id, such as %s.",
				flag, name, known.Example())
		}
		id = accounts[0]
	}
	platform, name, ok := known.Of(id)
	if id != core.LocalPerson && (!ok || strings.TrimSpace(name) == "") {
		return core.Actor{}, core.Errorf(core.Invalid, "%s: %q is no id of a person. Write %s and the id, or "+
			"person:NAME.", flag, id, known.Prefixes())
	}
	return core.Actor{
		ID: id, Local: platform.Name == "console" || id == core.LocalPerson || platform.Name == core.LocalPerson ||
			id == access.LocalID, Groups: groups,
	}, nil
}

// viewDecision is the JSON output, without who may decide.
func viewDecision(d policy.Decision) explanation {
	view := explanation{
		Action: d.Rule.Verdict, Why: d.Rule.Why, Approvers: append([]string{}, d.Rule.Approvers...),
		Quorum: max(d.Rule.Quorum, 1), Vetoes: max(d.Rule.Vetoes, 1),
		Self: d.Rule.Self, Expires: d.Expires,
	}
	if d.Matched {
		view.Rule = &d.Rule.Name
	}
	if asks := d.Nobody; asks != nil {
		view.Approvers = append(view.Approvers, asks.Approvers...)
		view.Action, view.Quorum, view.Vetoes, view.Self = asks.Verdict, max(asks.Quorum, 1), max(asks.Vetoes, 1),
			asks.Self
	}
	return view
}

// why is why somebody may not decide; "" = they may.
func why(r core.Rule, who, requester core.Actor) string {
	switch {
	case r.Verdict != core.VerdictAsk:
		return "there is nothing to decide"
	case r.MayDecide(who, requester):
		return ""
	}
	if r.Self = true; r.MayDecide(who, requester) {
		return "who asks may not decide"
	}
	if r.Escalated().MayDecide(who, requester) {
		return "not an approver before it is escalated"
	}
	return "not an approver"
}

// print prints the decision as lines of text.
func (c Explain) print(a *cli.App, d policy.Decision, risk core.Risk, view explanation, refusal string) {
	a.Fields("rule", d.Decider(), "action", string(view.Action), "why", view.Why)
	if d.Nobody != nil {
		a.Fields("happens", "the call is refused at once")
	}
	if d.Rule.Verdict == core.VerdictAsk {
		r := d.Rule
		a.Fields("approvers", strings.Join(view.Approvers, ", "), "quorum", fmt.Sprint(view.Quorum),
			"vetoes", fmt.Sprint(view.Vetoes), "self", yesNo(view.Self),
			"expires", view.Expires, "remind", durations(r.Remind), "escalate", escalation(r.Escalate),
			"hours", policy.WrittenHours(r.Hours), "notify", strings.Join(r.Notify, ", "))
		if r.Reason {
			a.Fields("reason", "required for a denial")
		}
		if m := r.Memory(risk); m.Uses > 0 {
			a.Fields("remember",
				fmt.Sprintf("an approver may allow the same call in its conversation for %s, %d times",
					policy.Written(m.For), m.Uses))
		} else if r.Remember > 0 {
			a.Fields("remember", "nothing, since the call is destructive; remember: {destructive: true} remembers "+
				"such approvals, too")
		}
		if r.Edit {
			a.Fields("edit", "an approver may change the arguments")
		}
	}
	if view.MayDecide != nil {
		answer := c.By + " may"
		if refusal != "" {
			answer = c.By + " may not: " + refusal
		}
		a.Fields("decide", answer)
	}
	for _, f := range d.Failed {
		effect := "so it does not match, because it allows"
		if f.Matched {
			effect = "so it matches, because it does not allow"
		}
		a.Fields("failed", fmt.Sprintf("the condition of the rule %q: %v; %s", f.Rule, f.Err, effect))
	}
}

func yesNo(yes bool) string {
	if yes {
		return "who asks may decide too"
	}
	return "who asks may not decide"
}

func durations(all []time.Duration) string {
	return strings.Join(cli.List(all, policy.Written), ", ")
}

func escalation(e core.Escalation) string {
	if e.After == 0 {
		return ""
	}
	return "after " + policy.Written(e.After) + " to " + strings.Join(e.To, ", ")
}
