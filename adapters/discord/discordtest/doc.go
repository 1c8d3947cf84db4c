// Package discordtest is a fake Discord: guilds with one bot in them, speaking the wire protocol over real sockets on 127.0.0.1, so that a
// client can't tell it from Discord. It serves the REST API under /api/v9 and /api/v10, the gateway as a websocket, the CDN of attachments,
// and sends signed interactions to an app's URL.
//
// In a test:
//
//	discord := discordtest.Start(t, discordtest.Options{})
//	alice := discord.AddUser(discordtest.User{ID: "1001", Name: "alice"})
//	discord.AddGuild(discordtest.Guild{ID: "2001", Name: "guild", Members: []string{"1001"}})
//	discord.AddChannel(discordtest.Channel{ID: "3001", Guild: "2001", Name: "general"})
//
//	session, _ := discordgo.New("Bot " + discord.BotToken())
//	session.Client = &http.Client{Transport: discord.Transport(nil)}
//	post := alice.Posts("3001", discord.MentionOfBot()+" add milk")
//	reply, err := discord.WaitForText(ctx, "3001", "milk")
//
// A program that has no test makes one by [New] and ends it by [Server.Close].
//
// # Where it listens
//
// [Server.APIURL] is the base of the REST API. A client whose addresses are fixed is led here by [Server.Transport]: it sends what goes to
// Discord's hosts to the fake, and refuses all else. What GET /gateway names is an address of the fake already; sessions are resumed at
// an address of its own, so that it shows who uses it.
//
// # What is kept
//
// Everything lives in memory under one lock: users, guilds, roles, channels, threads, messages, reactions, modals, commands, interactions, the
// log of all calls, the connections, identifies and resumes. Each change wakes those who wait by [Server.WaitFor]; nothing here needs a
// sleep. Ids are snowflakes made from the clock; they are unique and rise, whatever the clock says.
//
// # Time
//
// What Discord counts in seconds to days goes by [Options].Now: ids, the 3 s and 15 min of interactions, the minutes of a nonce, the budget of
// identifies, the life of a session. What a client waits for in real time goes by [Options].LimitNow: rate limits of REST and of gateway sends,
// and the count of invalid requests.
//
// # Faults
//
// [Server.Inject] makes the calls of a route fail in the way asked for, from a rate limit to a message that was posted although its answer was
// lost. A [Connection] can be made silent, broken, refused its acknowledgements, or closed with any code. What must never happen to a real
// bot, such as the reset of its token, is listed by [Server.Penalties] and fails the test.
package discordtest
