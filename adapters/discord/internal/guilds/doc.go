// Package guilds knows what the adapter must know of Discord's servers: channels and threads, roles, members, and who sees which
// channel. The gateway tells of them when a session begins and when they change; a resumed session tells nothing, so what is missing is
// asked for once it is needed.
//
//	cache.go         what the gateway tells; channels, guilds, the names of what a message mentions
//	members.go       who has which role, and which server a role belongs to
//	permissions.go   what a member may do in a channel
//	memo.go          answers of Discord that are remembered
//
// Channels and the names of roles are remembered until they change. What decides about permissions, and who has which role, is
// remembered for thirty seconds only.
package guilds
