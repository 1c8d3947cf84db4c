package discord

import (
	"fmt"
	"strconv"
)

// Permission is one right of the bot in a channel: what the invitation asks for, doctor checks and README explains.
type Permission struct {
	Name    string // as Discord's settings call it
	For     string // what the bot does with it
	Without string // what becomes of that where the bot lacks it
	bit     uint
	demand  demand
}

// demand says when a permission is needed.
type demand int

const (
	always    demand = iota // without it the bot is deaf or dumb there
	threading               // where a mention opens a thread (DISCORD_REPLY=thread); else not at all
	useful                  // the bot does without, less well
)

// Bits of permissions (topics/permissions).
const (
	bitAdministrator = 3
	bitView          = 10
	bitSend          = 11
	bitHistory       = 16
	bitManageThreads = 34
	bitPublicThreads = 35
	bitSendInThreads = 38
)

// Permissions is everything that the adapter may need, and nothing else.
var Permissions = []Permission{
	{Name: "View Channel", For: "hear what is said to it", Without: "the bot hears nothing there", bit: bitView},
	{Name: "Send Messages", For: "answer in channels, show cards and change them", Without: "the bot can't answer there", bit: bitSend},
	{Name: "Send Messages in Threads", For: "answer in threads", Without: "the bot can't answer in threads there", bit: bitSendInThreads},
	{
		Name: "Create Public Threads", For: "open a thread for the answer to a mention",
		Without: "a mention is answered in the channel itself", bit: bitPublicThreads, demand: threading,
	},
	{
		Name: "Read Message History", For: "fetch what was said while it was away, and files whose link has run out; look for a message whose answer was lost; reply to a message",
		Without: "what is said while the bot is away stays unanswered, and a message whose answer was lost may stay unknown", bit: bitHistory, demand: useful,
	},
}

// wanted gives the permissions that a configuration has a use for.
func wanted(c Config) []Permission {
	var found []Permission
	for _, p := range Permissions {
		if p.demand != threading || c.Reply != replyChannel {
			found = append(found, p)
		}
	}
	return found
}

// sum is the number that an invitation asks for.
func sum(permissions []Permission) string {
	total := uint64(0)
	for _, p := range permissions {
		total |= 1 << p.bit
	}
	return strconv.FormatUint(total, 10)
}

// powers is a set of permissions.
type powers uint64

// may reports whether a permission is among them. Who administrates may do everything.
func (p powers) may(bit uint) bool { return p&(1<<bit|1<<bitAdministrator) != 0 }

// UnmarshalJSON reads the number, which Discord writes as text.
func (p *powers) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseUint(trimQuotes(string(raw)), 10, 64)
	if err != nil {
		return fmt.Errorf("permissions that are no number: %w", err)
	}
	*p = powers(n)
	return nil
}

func trimQuotes(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// overwrite is an exception that a channel makes for a role or a member.
type overwrite struct {
	ID    string `json:"id"`
	Type  int    `json:"type"`
	Allow powers `json:"allow"`
	Deny  powers `json:"deny"`
}

// ofMember is the type of an overwrite for one member; others are for a role.
const ofMember = 1

// rank is a role with what it may do in its server.
type rank struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Powers powers `json:"permissions"`
	Tags   struct {
		Bot string `json:"bot_id"` // whose it is
	} `json:"tags"`
}

// powersIn tells what a member of a server may do in a channel: what the roles allow together, then the channel's exceptions for
// everyone, for the roles, for the member. The role of everyone has the server's id.
func powersIn(guild, user string, has []string, all []rank, exceptions []overwrite) powers {
	mine := map[string]bool{guild: true}
	for _, id := range has {
		mine[id] = true
	}
	var p powers
	for _, r := range all {
		if mine[r.ID] {
			p |= r.Powers
		}
	}
	if p.may(bitAdministrator) {
		return p
	}
	apply := func(fits func(overwrite) bool) {
		var allow, deny powers
		for _, o := range exceptions {
			if fits(o) {
				allow, deny = allow|o.Allow, deny|o.Deny
			}
		}
		p = p&^deny | allow
	}
	apply(func(o overwrite) bool { return o.Type != ofMember && o.ID == guild })
	apply(func(o overwrite) bool { return o.Type != ofMember && o.ID != guild && mine[o.ID] })
	apply(func(o overwrite) bool { return o.Type == ofMember && o.ID == user })
	return p
}
