package form

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"gatehouse/adapters/discord/discordtest/internal/wire"
)

// CheckContent finds what Discord would refuse in the fields of a message.
func CheckContent(f wire.Object, bad *Errors) {
	if utf8.RuneCountInString(wire.String(f, "content")) > 2000 {
		bad.Add("content", "BASE_TYPE_MAX_LENGTH", "Must be 2000 or fewer in length.")
	}
	embeds := wire.List(f, "embeds")
	if len(embeds) > 10 {
		bad.Add("embeds", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.")
	}
	total := 0
	for i, e := range embeds {
		total += embedLength(e)
		if utf8.RuneCountInString(wire.String(e, "description")) > 4096 {
			bad.Add("embeds."+strconv.Itoa(i)+".description", "BASE_TYPE_MAX_LENGTH",
				"Must be 4096 or fewer in length.")
		}
		if utf8.RuneCountInString(wire.String(e, "title")) > 256 {
			bad.Add("embeds."+strconv.Itoa(i)+".title", "BASE_TYPE_MAX_LENGTH", "Must be 256 or fewer in length.")
		}
	}
	if total > 6000 {
		bad.Add("embeds", "MAX_EMBED_SIZE_EXCEEDED", "Embed size exceeds maximum size of 6000")
	}
	if wire.Int(f, "flags")&wire.FlagComponentsV2 != 0 && (wire.String(f, "content") != "" || len(embeds) > 0) {
		bad.Add("content", "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
			"The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2")
	}
	CheckComponents(f, bad)
	checkAllowed(f, bad)
}

func embedLength(e wire.Object) int {
	n := utf8.RuneCountInString(wire.String(e, "title")) + utf8.RuneCountInString(wire.String(e, "description"))
	for _, field := range wire.List(e, "fields") {
		n += utf8.RuneCountInString(wire.String(field, "name")) + utf8.RuneCountInString(wire.String(field, "value"))
	}
	for key, name := range map[string]string{"footer": "text", "author": "name"} {
		inner, _ := e[key].(wire.Object)
		n += utf8.RuneCountInString(wire.String(inner, name))
	}
	return n
}

// checkAllowed refuses a kind of mention that is both in parse and in a list of its own.
func checkAllowed(f wire.Object, bad *Errors) {
	a, _ := f["allowed_mentions"].(wire.Object)
	for _, kind := range wire.Strings(a, "parse") {
		if !slices.Contains([]string{"users", "roles", "everyone"}, kind) {
			bad.Add("allowed_mentions.parse", "BASE_TYPE_CHOICES",
				"Value must be one of {'users', 'roles', 'everyone'}.")
		}
		if len(wire.Strings(a, kind)) > 0 {
			bad.Add("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
				"parse:[\""+kind+"\"] and "+kind+": [ids...] are mutually exclusive.")
		}
	}
}
