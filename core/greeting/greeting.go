// Package greeting is what an empty conversation shows, on the page and in the terminal: who answers there, and what a
// person may say first. The agents that are built in have a greeting; a file replaces what it names of it.
package greeting

// Greeting is one agent's.
type Greeting struct {
	Agent    string   // the name of the agent, as people read it
	Model    string   // the model that answers, as it is set; "" = the agent asks none
	Text     string   // what the agent is for; it may have several lines
	Examples []string // messages to begin with, which the agent understands
}

// Approvals says what approvals are for.
const Approvals = "What would change something waits until an approver allows it, unless a rule decides."
