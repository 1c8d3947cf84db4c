package settings

import (
	"gatehouse/core/agent"
	"gatehouse/core/greeting"
)

// builtInGreeting is what a conversation begins with where no file says it.
func (c *Config) builtInGreeting() greeting.Greeting {
	switch {
	case c.Agent == "llm":
		g := greeting.Greeting{
			Agent:    "Assistant",
			Text:     "Ask me anything. I can use the tools that are set up here.",
			Examples: []string{"What can you do here?", "Which tools can you use?", "What needs an approval here?"},
		}
		if len(c.Model.Chosen) > 0 {
			g.Model = c.Model.Chosen[0].Name
		}
		return g
	case c.Agent == "echo":
		return greeting.Greeting{
			Agent: "Echo agent", Text: "I repeat what you write.", Examples: []string{"at once Hello"},
		}
	case c.Script != nil && c.Script.Name != demoScript:
		return greeting.Greeting{
			Agent: "Workflow", Text: "I follow the script that is set up here. Write a message to begin.",
		}
	}
	return agent.DemoGreeting()
}

// readGreeting makes the greeting: the built-in one, with what the file says in its place.
func (c *Config) readGreeting(f *faults) {
	var err error
	c.Greeting, err = greeting.Read(c.GreetingFile, c.builtInGreeting())
	f.checkFile(err, "GATEHOUSE_GREETING_FILE", "the greeting is invalid")
}
