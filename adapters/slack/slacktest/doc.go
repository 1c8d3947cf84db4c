// Package slacktest is a fake Slack: one workspace that speaks the wire protocol over real sockets on 127.0.0.1, so that a client can't
// tell it from Slack. It serves the Web API, sends signed requests to an app's URLs, and holds Socket Mode sockets.
//
// In a test:
//
//	slack := slacktest.Start(t, slacktest.Options{})
//	alice := slack.AddUser(slacktest.User{ID: "U1", Name: "alice"})
//	slack.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1", slack.BotUserID()}})
//
//	api := slackgo.New(slack.BotToken(), slackgo.OptionAPIURL(slack.APIURL()), slackgo.OptionAppLevelToken(slack.AppToken()))
//	post := alice.Posts("C1", slack.MentionOfBot()+" add milk")
//	reply, err := slack.WaitForText(ctx, "C1", post.TS, "milk")
//
// A program that has no test makes one by [New] and ends it by [Server.Close].
//
// # What is kept
//
// Everything lives in memory under one lock: users, channels, messages with their threads, reactions, files, modals, the log of all
// calls, the log of all deliveries, the sockets. Each change wakes those who wait by [Server.WaitFor]; nothing here needs a sleep.
// Message timestamps are unique and rise, whatever the clock says.
//
// # How events travel
//
// What an app receives goes by HTTP when an address for its kind is set (see [Addresses]), otherwise by one open socket. What one person
// does in one conversation is sent in order: the next is sent once the first try of the one before it is over. The mention and the
// message of one post travel at the same time. An event that is not acknowledged is sent again, three times at most; clicks, modals and
// commands are sent once, as Slack does. Events that happen while no socket is open wait for one and are then marked as retries.
//
// # Faults
//
// [Server.Inject] makes the calls of a method fail in the way asked for, from a rate limit to a message that was posted although its
// answer was lost. Sockets can be asked to go silent, to break, or to be refreshed. Requests can be badly signed or late, see [ActionOption].
package slacktest
