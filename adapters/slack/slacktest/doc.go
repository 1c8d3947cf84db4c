// Package slacktest is a fake Slack: one workspace that uses the wire protocol over real sockets on 127.0.0.1, so that
// a client can't distinguish it from Slack. It serves the Web API, sends signed requests to an app's URLs, and holds
// Socket Mode sockets.
//
// In a test:
//
//	slack := slacktest.Start(t, slacktest.Options{})
//	alice := slack.AddUser(slacktest.User{ID: "U1", Name: "alice"})
//	slack.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1", slack.BotUserID()}})
//
//	api := slackgo.New(slack.BotToken(), slackgo.OptionAPIURL(slack.APIURL()),
//		slackgo.OptionAppLevelToken(slack.AppToken()))
//	post := alice.Posts("C1", slack.MentionOfBot()+" add milk")
//	reply, err := slack.WaitForText(ctx, "C1", post.TS, "milk")
//
// A program without a test makes one with [New] and ends it with [Server.Close].
//
// # State
//
// Everything lives in memory under one lock: users, channels, messages with their threads, reactions, files, modals,
// the log of all calls, the log of all deliveries, the sockets. Each change wakes the callers of [Server.WaitFor];
// nothing here needs a sleep. Message timestamps are unique and increase, even if the clock does not.
//
// # Delivery of events
//
// A payload is sent over HTTP if an address for its kind is set (see [Addresses]), otherwise over one open socket. The
// actions of one person in one conversation are sent in order: each is sent once the first try of the one before it is
// over. The mention and the message of one post are sent at the same time. An event that is not acknowledged is sent
// again, at most three times. Clicks, modals and commands are sent once, as Slack does. Events that happen while no
// socket is open wait for one and are then marked as retries.
//
// # Faults
//
// [Server.Inject] makes the calls of a method fail in a chosen way, from a rate limit to a message that was posted
// although its answer was lost. Sockets can go silent, break, or be refreshed. Requests can be badly signed or late,
// see [ActionOption].
package slacktest
