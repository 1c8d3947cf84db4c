package policy

import (
	"regexp"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// platforms are those that ids may begin with.
var platforms = []string{"slack", "discord", "openharness", "console", "local"}

var (
	slackMember  = regexp.MustCompile(`^[UW][A-Z0-9]+$`)
	slackGroup   = regexp.MustCompile(`^S[A-Z0-9]+$`)
	slackChannel = regexp.MustCompile(`^[CGD][A-Z0-9]+$`)
	discordID    = regexp.MustCompile(`^[0-9]+$`)
	tokenName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	localName    = regexp.MustCompile(`^[^\s:,]+$`)
	entryName    = regexp.MustCompile(`^[\p{L}\p{N}_.-]+$`)
)

// Platforms are the platforms that ids may begin with.
func Platforms() []string { return slices.Clone(platforms) }

// PlatformOf returns the platform that the id of a person or a group begins with.
func PlatformOf(id string) string {
	platform, _, _ := strings.Cut(id, ":")
	return platform
}

// isGroup reports whether an id stands for people whose number only the platform knows: its groups and roles, and the local people.
func isGroup(id string) bool {
	return id == core.LocalPerson || IsPlatformGroup(id)
}

// IsPlatformGroup reports whether an id is that of a platform's group or role.
func IsPlatformGroup(id string) bool {
	platform, name, _ := strings.Cut(id, ":")
	return platform == "slack" && slackGroup.MatchString(name) || platform == "discord" && strings.HasPrefix(name, "role:")
}

// checkID returns what is wrong with the id of a person or a platform's group, and the remedy; "" = nothing.
func checkID(id string) (what, do string) {
	platform, name, ok := strings.Cut(id, ":")
	switch {
	case !ok && id == core.LocalPerson:
		return "", ""
	case !ok:
		return strictyaml.Quoted(id) + " is no id", "write PLATFORM:ID, such as slack:U0123ABCD, or person:NAME or group:NAME"
	case !slices.Contains(platforms, platform):
		return strictyaml.Quoted(id) + " is of the unknown platform " + strictyaml.Quoted(platform), strictyaml.Meant(platform, platforms)
	}
	role, isRole := strings.CutPrefix(name, "role:")
	switch platform {
	case "slack":
		if !slackMember.MatchString(name) && !slackGroup.MatchString(name) {
			return strictyaml.Quoted(id) + " is no id of a person or user group of Slack", "copy the id from Slack, such as slack:U0123ABCD or slack:S0123ABCD"
		}
	case "discord":
		if isRole && !discordID.MatchString(role) || !isRole && !discordID.MatchString(name) {
			return strictyaml.Quoted(id) + " is no id of a person or role of Discord", "copy the id from Discord, such as discord:80351110224678912 or discord:role:41771983423143936"
		}
	case "openharness":
		if !tokenName.MatchString(name) {
			return strictyaml.Quoted(id) + " is no id of a holder of a token", "write openharness:NAME with a name of GATEHOUSE_TOKENS"
		}
	default:
		if !localName.MatchString(name) {
			return strictyaml.Quoted(id) + " is no id", "write " + platform + ":NAME with a name without spaces"
		}
	}
	return "", ""
}

// checkChannel returns what is wrong with a value of notify, and the remedy.
func checkChannel(value string) (what, do string) {
	platform, name, _ := strings.Cut(value, ":")
	switch {
	case value == core.NotifyHere || value == core.NotifyDM:
	case platform == "slack" && slackChannel.MatchString(name):
	case platform == "discord" && discordID.MatchString(name):
	default:
		return strictyaml.Quoted(value) + " is no place to notify", "use here, dm, slack:C0123ABCD or discord:41771983423143936"
	}
	return "", ""
}
