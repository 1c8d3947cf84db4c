package discordtest_test

import (
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/discordtest"
)

// A program outside a test starts a fake and reads the bot's messages.
func Example() {
	fake := discordtest.New(discordtest.Options{})
	defer fake.Close()
	alice := fake.AddUser(discordtest.User{ID: "1001", Name: "alice"})
	fake.AddGuild(discordtest.Guild{ID: "2001", Name: "town", Members: []string{"1001"}})
	fake.AddChannel(discordtest.Channel{ID: "3001", Guild: "2001", Name: "general"})

	asked := alice.Posts("3001", fake.MentionOfBot()+" are you there?")
	fake.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.AnswerLost(), Times: 1})

	web := &http.Transport{}
	defer web.CloseIdleConnections()
	bot, _ := discordgo.New("Bot " + fake.BotToken())
	bot.Client = &http.Client{Transport: fake.Transport(web)}
	_, err := bot.ChannelMessageSendReply("3001", "Yes.", &discordgo.MessageReference{MessageID: asked.ID})
	fmt.Println("the answer was lost:", err != nil)
	fmt.Print(fake.Dump())
	// Output:
	// the answer was lost: true
	// channel 3001 general
	//   id1 alice: <@900000000000000002> are you there?
	//   id2 gatehouse: Yes. (to id1)
}
