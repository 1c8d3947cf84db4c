package slacktest_test

import (
	"fmt"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

// A program without a test makes a fake, and reads the bot's messages.
func Example() {
	fake := slacktest.New(slacktest.Options{})
	defer fake.Close()
	alice := fake.AddUser(slacktest.User{ID: "U1", Name: "alice"})
	fake.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1", fake.BotUserID()}})

	asked := alice.Posts("C1", fake.MentionOfBot()+" are you there?")
	fake.Inject(slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.AnswerLost(), Times: 1})

	api := slackgo.New(fake.BotToken(), slackgo.OptionAPIURL(fake.APIURL()))
	_, _, err := api.PostMessage("C1", slackgo.MsgOptionText("Yes.", false), slackgo.MsgOptionTS(asked.TS))
	fmt.Println("the answer was lost:", err != nil)
	fmt.Print(fake.Dump())
	// Output:
	// the answer was lost: true
	// channel C1 general
	//   ts1 alice: <@U0BOT> are you there?
	//     ts2 gatehouse: Yes.
}
