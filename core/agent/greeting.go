package agent

import "gatehouse/core/greeting"

// DemoGreeting is what a conversation with the demo begins with. Each example is one of its commands; the third asks
// for an approval.
func DemoGreeting() greeting.Greeting {
	return greeting.Greeting{
		Agent: "Demo agent",
		Text:  "I show what gatehouse does. I ask no model: I know a few commands, and help lists them.",
		Examples: []string{
			"calc 2+3*4",
			"time Europe/Berlin",
			"note add Buy milk",
			"note list",
		},
	}
}
