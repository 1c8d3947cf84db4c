package wire

// Flags of messages.
const (
	FlagSuppressEmbeds        = 1 << 2
	FlagHasThread             = 1 << 5
	FlagEphemeral             = 1 << 6
	FlagLoading               = 1 << 7
	FlagSuppressNotifications = 1 << 12
	FlagHasSnapshot           = 1 << 14
	FlagComponentsV2          = 1 << 15
)

// Types of messages.
const (
	TypeDefault       = 0
	TypeThreadCreated = 18
	TypeReply         = 19
	TypeCommand       = 20
	TypeThreadStarter = 21
)
