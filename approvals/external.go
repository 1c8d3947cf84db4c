package approvals

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// Agents is what a service needs so that other agents can request approvals and ask questions.
type Agents struct {
	Store  ExternalStore
	Policy ExternalPolicy
	// MostOpen is how many requests of one principal may be open at a time.
	MostOpen int
}

// ExternalStore stores the requests of other agents.
type ExternalStore interface {
	// OpenExternal stores a request once, with its posts.
	OpenExternal(
		ctx context.Context, a core.Approval, posts []core.Post, most int,
	) (stored core.Approval, created bool, err error)
}

// ExternalPolicy is the policy in force for other agents.
type ExternalPolicy interface {
	Policy
	// Asks is the rule for a question: who may answer it.
	Asks(turn core.Turn, call core.Call, of []string, expires time.Duration) core.Rule
}

// TellThrough gives the service the platforms that run: they know which of the places where approvers are told are
// not there any more.
func (s *Service) TellThrough(running ...core.Platform) { s.running = running }

// LetAgentsAsk makes a service accept requests of other agents. It returns the service.
func (s *Service) LetAgentsAsk(a Agents) *Service {
	s.agents = a
	return s
}

// Request opens an agent's request, or returns the one that was opened under its id before; created tells which. The
// policy decides as for a tool of that name; what the agent says can shorten its time, and change nothing else. An
// agent does not decide its own request. Errors: policy_denied, with why, also if its approvers can't be told of it;
// invalid, if the same id was used for another request; rate_limited.
func (s *Service) Request(ctx context.Context, r core.AgentRequest) (a core.Approval, created bool, err error) {
	turn := core.Turn{Actor: r.Requester, Conversation: r.Conversation()}
	a = core.Approval{
		ID: r.ID, Conversation: r.Conversation(), Address: core.Address{Platform: core.CallbackPlatform}, Call: r.Call,
		Question: r.Question, External: &r.External,
		Requester: r.Requester, State: core.Open,
	}
	if known, _, err := s.store.Recorded(ctx, r.ID); core.CategoryOf(err) != core.NotFound {
		return known, false, sameRequest(known, r, err)
	}
	if r.Question != nil {
		a.Rule = s.agents.Policy.Asks(turn, r.Call, r.Of, r.Expires)
	} else {
		a.Rule = within(s.agents.Policy.Rule(turn, r.Call), r.Expires)
	}
	var posts []core.Post
	switch a.Rule.Verdict {
	case core.VerdictAllow:
		a.State, a.DecidedBy, a.Reason = core.Approved, core.Actor{ID: "policy", Name: "policy: " + a.Rule.Name},
			a.Rule.Why
	case core.VerdictAsk:
		a.Rule.Self = a.Rule.Self && r.Requester.Local // who holds the agent's token is not a second person
		if posts = s.posts(a, a.CardKey(), 0, ""); len(posts) == 0 && !onPages(a.Rule) {
			return a, false, core.Errorf(core.PolicyDenied, "The rule %q does not say where its approvers are told "+
				"of this, and there is no conversation to ask in. An admin can add notify: with a channel, or with dm.",
				a.Rule.Name)
		}
		if why := s.unreachable(ctx, a.Rule, posts); why != "" {
			return a, false, core.Errorf(core.PolicyDenied, "Nobody can be told of this request, so it was not "+
				"opened: %s. "+
				"An admin has to change the approvers or notify: of the rule %q.", why, a.Rule.Name)
		}
	default:
		return a, false,
			core.Errorf(core.PolicyDenied, "%s", cmp.Or(a.Rule.Why, "The policy does not allow "+r.Call.Tool+"."))
	}
	a, created, err = s.agents.Store.OpenExternal(ctx, a, posts, s.agents.MostOpen)
	if err == nil && !created {
		a, _, err = s.store.Recorded(ctx, r.ID)
		err = sameRequest(a, r, err)
	}
	return a, created, err
}

// reachTime is how long an agent waits while the platforms are asked whether its approvers can be told.
const reachTime = 3 * time.Second

// unreachable says why none of the posts of a request can arrive, as far as their platforms know at once; "" if one
// may, or they can't tell.
func (s *Service) unreachable(ctx context.Context, r core.Rule, posts []core.Post) string {
	if onPages(r) {
		return ""
	}
	ctx, done := context.WithTimeout(ctx, reachTime)
	defer done()
	var all []string
	for _, p := range posts {
		persons := []string{p.Person}
		if p.ForEach() {
			other := func(id string) bool { return policy.PlatformOf(id) != p.To.Platform }
			persons = slices.DeleteFunc(slices.Clone(r.Approvers), other)
		}
		for _, p.Person = range persons {
			why := s.missing(ctx, p)
			if why == "" {
				return ""
			}
			if !slices.Contains(all, why) {
				all = append(all, why)
			}
		}
	}
	return strings.Join(all, "; ")
}

// missing asks the platform of a post why nobody can be told by it.
func (s *Service) missing(ctx context.Context, post core.Post) string {
	for _, p := range s.running {
		asked, ok := p.(interface {
			Missing(ctx context.Context, post core.Post) string
		})
		if ok && p.Name() == post.To.Platform {
			return asked.Missing(ctx, post)
		}
	}
	return ""
}

// sameRequest refuses a request whose id is that of another one.
func sameRequest(known core.Approval, r core.AgentRequest, err error) error {
	if err != nil {
		return err
	}
	if x := known.External; x != nil && known.Requester.ID == r.Requester.ID &&
		(x.Request == r.Request || x.Request == r.Before) {
		return nil
	}
	return core.Errorf(core.Invalid,
		"This idempotency key was used for another request. Use a new key, or repeat the request as it was.")
}

// within is a rule whose time is shortened.
func within(r core.Rule, expires time.Duration) core.Rule {
	if expires <= 0 || r.Timeout > 0 && r.Timeout <= expires {
		return r
	}
	r.Timeout = expires
	r.Remind = slices.DeleteFunc(slices.Clone(r.Remind), func(d time.Duration) bool { return d >= expires })
	if r.Escalate.After >= expires {
		r.Escalate = core.Escalation{}
	}
	return r
}

// onPages reports whether somebody may decide who looks at the web pages.
func onPages(r core.Rule) bool {
	return slices.ContainsFunc(r.Groups(), func(id string) bool {
		return id == core.LocalPerson || strings.HasPrefix(id, "openharness:")
	})
}

// Requested returns a request of this agent, as the audit log records it. Errors: not_found, also for one of somebody
// else, and those of core's Approvals.Recorded.
func (s *Service) Requested(ctx context.Context, id core.ApprovalID, who core.Actor) (core.Approval, error) {
	a, _, err := s.store.Recorded(ctx, id)
	if err == nil && (a.External == nil || a.Requester.ID != who.ID) {
		return core.Approval{}, core.Errorf(core.NotFound, "There is no request %s of yours.", id)
	}
	if core.CategoryOf(err) == core.NotFound {
		err = core.Errorf(core.NotFound, "There is no request %s of yours.", id)
	}
	return a, err
}

// WithdrawRequest cancels an open request of this agent; one that it has withdrawn before is no error. Errors:
// not_found, approval_decided.
func (s *Service) WithdrawRequest(ctx context.Context, id core.ApprovalID, who core.Actor) (core.Approval, error) {
	a, err := s.Requested(ctx, id, who)
	if err != nil || a.State == core.Cancelled && a.DecidedBy.ID == who.ID {
		return a, err
	}
	if _, err := s.store.Decide(ctx,
		core.Decision{Approval: id, Cancel: true, By: who, Reason: "withdrawn by " + who.Called()}); err != nil {
		return a, err
	}
	return s.Requested(ctx, id, who)
}
