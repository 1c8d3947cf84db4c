// Package discordtest is a fake Discord: guilds with one bot in them, served over real sockets on 127.0.0.1 by
// Discord's own protocols. It serves the REST API under /api/v9 and /api/v10, the gateway as a websocket, and the CDN
// of attachments, and sends signed interactions to an app's URL.
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
// A program outside a test starts a fake with [New] and ends it with [Server.Close].
//
// # Addresses
//
// [Server.APIURL] is the base of the REST API. For a client with fixed addresses, [Server.Transport] redirects requests
// for Discord's hosts to the fake and refuses all others. GET /gateway returns an address of the fake. Sessions are
// resumed at an address of their own, which shows whether a client uses it.
//
// # State
//
// Everything is in memory under one lock: users, guilds, roles, channels, threads, messages, reactions, modals,
// commands, interactions, the log of all calls, the connections, identifies and resumes. Each change wakes the callers
// of [Server.WaitFor], so tests need no sleep. Ids are snowflakes made from the clock; they are unique and increase,
// whatever the clock shows.
//
// # Time
//
// [Options].Now is the clock for what Discord counts in seconds to days: ids, the 3 s and 15 min of interactions, the
// minutes of a nonce, the budget of identifies, the lifetime of a session. [Options].LimitNow is the clock for what a
// client waits for in real time: the rate limits of REST and of gateway sends, and the count of invalid requests.
//
// # Faults
//
// [Server.Inject] makes the calls of a route fail, from a rate limit to a message that was posted although its answer
// was lost. A [Connection] can be made silent, broken, left without acknowledgements, or closed with any code.
// Penalties that a real bot must never cause, such as the reset of its token, are listed by [Server.Penalties] and fail
// the test.
//
// [Server.Block] and [Server.BlockLinks] make Discord refuse messages for their words.
//
// # Discord's description
//
// In tests, every request and every answer of the fake is compared with Discord's own description of its API.
// testdata/discord-openapi.json has the parts of it that the fake's routes need. [Server.Deviations] lists what
// differs, which fails the test. A test compares the stored parts with the whole description if
// GATEHOUSE_TEST_DISCORD_API is its path, and draws them anew with -update.
package discordtest
