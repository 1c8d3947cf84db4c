package gateway

// Intents of the gateway.
const (
	IntentGuilds          = 1 << 0
	IntentMembers         = 1 << 1 // privileged
	IntentPresences       = 1 << 8 // privileged
	IntentGuildMessages   = 1 << 9
	IntentGuildReactions  = 1 << 10
	IntentGuildTyping     = 1 << 11
	IntentDirectMessages  = 1 << 12
	IntentDirectReactions = 1 << 13
	IntentDirectTyping    = 1 << 14
	IntentMessageContent  = 1 << 15 // privileged

	privilegedIntents = IntentMembers | IntentPresences | IntentMessageContent
	// knownIntents are all bits that are intents: 0 to 16, 20, 21, 24 and 25.
	knownIntents = 1<<17 - 1 | 1<<20 | 1<<21 | 1<<24 | 1<<25
)
