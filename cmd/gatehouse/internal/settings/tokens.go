package settings

import (
	"fmt"
	"slices"
	"strings"

	"gatehouse/adapters/access"
	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// readTokens reads who may use the endpoint and the pages, and what may read the metrics.
func (c *Config) readTokens(f *faults) {
	var err error
	c.Metrics, err = access.ParseSecret(c.MetricsToken)
	f.check(err == nil, "GATEHOUSE_METRICS_TOKEN", "%s", core.MessageOf(err))
	c.Tokens, err = access.ParseTokens(c.TokenList)
	f.check(err == nil, "GATEHOUSE_TOKENS", "the tokens are invalid:\n    %s",
		strings.ReplaceAll(core.MessageOf(err), "\n", "\n    "))
}

// WithoutToken returns a warning for every approver who would need a token and has none, so that they can't decide
// anything. It is no fault: a command may run without the tokens.
func (c Config) WithoutToken() (all []string) {
	if c.Policy == nil { // the configuration is invalid
		return nil
	}
	for _, id := range c.Policy.Approvers() {
		has := slices.ContainsFunc(c.Tokens, func(t access.Token) bool { return t.ID() == id })
		switch {
		case policy.PlatformOf(id) != access.Platform || has:
		case id != access.LocalID:
			all = append(all, fmt.Sprintf("%s is an approver but has no token in GATEHOUSE_TOKENS: nobody can decide "+
				"as that account", id))
		case len(c.Tokens) > 0:
			all = append(all, fmt.Sprintf("%s is an approver, but with GATEHOUSE_TOKENS nobody is that person: who "+
				"is at gatehouse's own machine needs a token too", id))
		}
	}
	return all
}
