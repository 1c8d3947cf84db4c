package settings

import (
	"slices"

	"gatehouse/approvals/policy"
)

// WithoutApprovers returns the titles of the configured platforms on which nobody may approve.
func (c Config) WithoutApprovers() (titles []string) {
	for _, p := range c.Platforms() {
		here := func(id string) bool { return policy.PlatformOf(id) == p.Name }
		if p.Configured && !slices.ContainsFunc(c.Policy.Approvers(), here) {
			titles = append(titles, p.Title)
		}
	}
	return titles
}
