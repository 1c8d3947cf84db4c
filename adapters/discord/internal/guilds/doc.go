// Package guilds caches what the adapter needs from Discord's servers: channels and threads, roles, members, and who
// sees which channel. The gateway sends this when a session begins and when it changes. A resumed session does not send
// it, so anything missing is requested when it is needed.
//
//	cache.go         updates from the gateway; channels, guilds, the names of what a message mentions
//	members.go       who has which role, and which server a role belongs to
//	permissions.go   what a member may do in a channel
//	answers.go       a cache of Discord's answers
//
// Channels and the names of roles are cached until they change. Permissions, and which roles a member has, are cached
// for thirty seconds only.
package guilds
