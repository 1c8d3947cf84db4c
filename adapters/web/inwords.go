package web

import (
	"strings"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

// conversationInWords tells where a conversation is: one of these pages by whose it is, any other by its platform.
func (v *request) conversationInWords(id core.ConversationID) string {
	platform, text, _ := strings.Cut(string(id), ":")
	if _, rest, ok := strings.Cut(text, "/"); ok && platform == access.Platform {
		if who, session, ok := strings.Cut(rest, "/"); ok {
			return who + " on the web (" + session + ")"
		}
	}
	if p, text, ok := v.Platforms.Of(string(id)); ok {
		return text + " on " + p.Title
	}
	return text + " on " + platform
}

// sessionInWords tells a session likewise, and which one of its conversation it is, unless it is the first.
func (v *request) sessionInWords(id core.SessionID) string {
	name := v.conversationInWords(id.Conversation())
	if at := strings.LastIndexByte(string(id), '@'); at >= 0 && string(id[at+1:]) != "1" {
		name += ", begun anew: " + string(id[at:])
	}
	return name
}

// turnStates are the ends of turns in words; "" has not ended.
var turnStates = map[core.EndKind]string{
	"": "waits or runs", core.EndReplied: "answered", core.EndErrored: "failed, and said so",
	core.EndSuspended: "paused for an approval", core.EndNothing: "had nothing to say", core.EndIgnored: "ignored",
	core.EndWithdrawn: "withdrawn", core.EndDecided: "decided", core.EndApplied: "applied",
	core.EndRefused: "refused: too many", core.EndDead: "given up", core.EndDropped: "given up, and discarded",
}

// postStates are the states of posts in words.
var postStates = map[core.RowState]string{
	core.RowWaiting: "waits", core.RowSent: "delivered", core.RowDead: "refused",
	core.RowUnknown: "may not have arrived", core.RowDropped: "discarded",
}

// kindsOfTurns are the kinds of events in words, where they differ from their names.
var kindsOfTurns = map[core.Kind]string{
	core.KindClick: "decision", core.KindSignal: "goes on after an approval", core.KindControl: "control word",
	core.KindRetry: "try again", core.KindAmend: "edit",
}

func inWords[K ~string](words map[K]string, k K) string {
	if text, ok := words[k]; ok {
		return text
	}
	return string(k)
}
