package form

import (
	"unicode/utf8"

	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// CheckContent finds what Discord would refuse in the fields of a message, besides what its description says.
func CheckContent(f wire.Object, bad *Errors) {
	if utf8.RuneCountInString(wire.String(f, "content")) > 2000 {
		bad.Add("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	}
	legacy := wire.String(f, "content") != "" || len(wire.List(f, "embeds")) > 0
	if wire.Int(f, "flags")&wire.FlagComponentsV2 != 0 && legacy {
		bad.Add("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
			"The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2")
	}
	CheckComponents(f, bad)
	checkAllowed(f, bad)
}

// checkAllowed refuses a kind of mention that is both in parse and in a list of its own.
func checkAllowed(f wire.Object, bad *Errors) {
	a, _ := f["allowed_mentions"].(wire.Object)
	for _, kind := range wire.Strings(a, "parse") {
		if len(wire.Strings(a, kind)) > 0 {
			bad.Add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
				"parse:[\""+kind+"\"] and "+kind+": [ids...] are mutually exclusive.")
		}
	}
}
