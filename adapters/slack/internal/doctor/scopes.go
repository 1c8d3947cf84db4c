package doctor

import (
	"slices"

	"gatehouse/adapters/slack/internal/webapi"
)

// The scopes that parts of the adapter check by name.
const (
	ScopeAssistant = "assistant:write"
	ScopeReactions = "reactions:write"
)

// demand is when a scope is needed.
type demand int

const (
	_ demand = iota // always: without it the bot can't read or write somewhere
	// needed if messages count that don't mention the bot itself (Options.FollowUp), else useful
	following
	groups // needed if a user group may approve, else useful
	viewed // needed if the app has the assistant view, else not at all
	useful // the bot works without it, less well
)

// Scope is a scope of the bot's token. The manifest requests it, gatehouse doctor checks it, and README.md explains it.
type Scope struct {
	Name    string
	For     string // what the bot does with it
	Without string // what happens if the token lacks it
	// the methods of the Web API that need it; some need one of several scopes, by the kind of conversation
	Calls  []string
	Events []string // the events that need it
	demand demand
}

// Scopes are all scopes that the adapter may need, and no others. A test derives them from the calls in the code.
var Scopes = []Scope{
	{
		Name: "app_mentions:read", For: "receive its mentions", Without: "the bot does not receive its mentions",
		Events: []string{"app_mention"},
	}, {
		Name: "channels:history",
		For: "receive messages in threads of public channels without a mention, and mentions of a group; " +
			"read the thread above a mention; find a post again whose answer was lost",
		Without: "messages in threads of public channels are not received without a mention, nor mentions of a " +
			"group; the agent does not see the thread above a mention, and a post whose answer was lost stays unknown",
		Calls: readCalls, Events: []string{"message.channels"}, demand: following,
	}, {
		Name: "groups:history", For: "the same in private channels",
		Without: "messages in threads of private channels are not received without a mention, nor mentions of a " +
			"group; the agent does not see the thread above a mention, and a post whose answer was lost stays unknown",
		Calls: readCalls, Events: []string{"message.groups"}, demand: following,
	}, {
		Name:    "im:history",
		For:     "receive direct messages; read the thread above a reply; find a post again whose answer was lost",
		Without: "direct messages are not received", Calls: readCalls, Events: []string{"message.im"},
	}, {
		Name: "mpim:history", For: "the same in group direct messages",
		Without: "group direct messages are not received", Calls: readCalls, Events: []string{"message.mpim"},
	}, {
		Name: "channels:read",
		For: "see which approvers are in a public channel, so that the others get the card as a direct message; " +
			"show the names of channels",
		Without: "approvers who are not in a public channel get no copy of its cards, and the agent sees public " +
			"channels by their ids",
		Calls: memberCalls, demand: useful,
	}, {
		Name: "groups:read", For: "the same in private channels",
		Without: "approvers who are not in a private channel get no copy of its cards, and the agent sees private " +
			"channels by their ids",
		Calls: memberCalls, demand: useful,
	}, {
		Name: "im:read", For: "the same in direct messages",
		Without: "approvers get no copy of cards in other people's direct messages", Calls: memberCalls, demand: useful,
	}, {
		Name: "mpim:read", For: "the same in group direct messages; tell a mention there from a mention in a channel",
		Without: "approvers get no copy of cards in group direct messages, and a mention there may be answered in a " +
			"thread", Calls: memberCalls, demand: useful,
	}, {
		Name: "chat:write", For: "post replies and cards, and edit them", Without: "the bot can't post anything",
		Calls: []string{"chat.postMessage", "chat.postEphemeral", "chat.update", "chat.delete"},
	}, {
		Name: "im:write", For: "open direct messages with approvers",
		Without: "approvers who do not see a card get no copy of it", Calls: []string{"conversations.open"},
		demand: useful,
	}, {
		Name: "users:read",
		For: "show the names of people and bots; check that approvers exist; " +
			"ask which workspace a person is of, where Slack does not say it",
		Without: "people are shown by their ids, and whoever is in a shared channel or of another workspace of the " +
			"organisation may be taken for a stranger, " +
			"who gets no answer and can't approve",
		Calls: []string{"users.info", "bots.info"}, demand: useful,
	}, {
		Name: "usergroups:read", For: "see who is in a user group that may approve; show the names of user groups",
		Without: "groups of approvers are treated as empty, and the agent sees user groups by their ids",
		Calls:   []string{"usergroups.users.list", "usergroups.list"}, demand: groups,
	}, {
		Name: "reactions:write", For: "show with an hourglass that it is working on a message",
		Without: "people can't see that the bot is working on a message",
		Calls:   []string{"reactions.add", "reactions.remove"}, demand: useful,
	}, {
		Name: "files:read", For: "read images and text files that people send",
		Without: "the agent gets only the names of files that people send", Calls: []string{"files.info"},
		demand: useful,
	}, {
		Name: "commands", For: "the command /gatehouse", Without: "there is no command /gatehouse", demand: useful,
	}, {
		Name: ScopeAssistant, For: "the assistant view, only with --assistant",
		Without: "the assistant view shows no status",
		Calls:   []string{"assistant.threads.setStatus"}, Events: []string{"assistant_thread_started"}, demand: viewed,
	},
}

var (
	readCalls   = []string{"conversations.history", "conversations.replies"}
	memberCalls = []string{"conversations.members", "users.conversations", "conversations.info"}
)

// ScopesFor returns the names of the scopes that a manifest requests, and the events that need them.
func ScopesFor(assistant bool) (scopes, events []string) {
	for _, s := range Scopes {
		if s.demand != viewed || assistant {
			scopes, events = append(scopes, s.Name), append(events, s.Events...)
		}
	}
	return scopes, events
}

// lacking returns the scopes that the token lacks: those that the configuration needs, and those that are useful.
func lacking(has map[string]bool, followUp bool, approvers []string) (needed, wanted []Scope) {
	byGroup := slices.ContainsFunc(approvers, func(id string) bool { _, ok := webapi.GroupID(id); return ok })
	for _, s := range Scopes {
		switch {
		case has[s.Name], s.demand == viewed:
		case s.demand == useful, s.demand == following && !followUp, s.demand == groups && !byGroup:
			wanted = append(wanted, s)
		default:
			needed = append(needed, s)
		}
	}
	return needed, wanted
}

// listable returns the kinds of conversations for which the token's scopes let the bot list those that it is in.
func listable(has map[string]bool) []string {
	var types []string
	for _, kind := range [][2]string{
		{"channels:read", "public_channel"}, {"groups:read", "private_channel"}, {"im:read", "im"},
		{"mpim:read", "mpim"},
	} {
		if has[kind[0]] {
			types = append(types, kind[1])
		}
	}
	return types
}
