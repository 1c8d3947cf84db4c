package admin

import (
	"context"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// findSession loads a session by its id or, for a conversation, the latest one that has a record. Of either id, the
// beginning or end of one alone will do.
func findSession(ctx context.Context, store *storage.Store, id string) (*core.SessionRecord, error) {
	rec, err := store.LoadSession(ctx, core.SessionID(id), core.Writer{})
	if rec != nil || err != nil {
		return rec, err
	}
	all, err := store.ListSessions(ctx, core.SessionFilter{}) // the latest change first
	if err != nil {
		return nil, err
	}
	conversation, err := partOfConversation(id, all)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.ID.Conversation() == conversation && string(s.ID) != id {
			if rec, err = store.LoadSession(ctx, s.ID, core.Writer{}); rec != nil || err != nil {
				return rec, err
			}
		}
	}
	whole, err := partOfSession(id, all)
	if err == nil && whole != "" {
		rec, err = store.LoadSession(ctx, whole, core.Writer{})
	}
	if rec != nil || err != nil {
		return rec, err
	}
	return nil, unknownSession(id)
}

func unknownSession(id string) error {
	return core.Errorf(core.NotFound, "There is no session %q. List sessions with gatehouse sessions list.", id)
}

// partOfConversation returns the conversation that an id, or a part of one, names among those of the sessions; "" if
// there is none.
func partOfConversation(part string, sessions []core.SessionSummary) (core.ConversationID, error) {
	var all []named
	known := map[core.ConversationID]bool{}
	for _, s := range sessions {
		conversation := s.ID.Conversation()
		if string(conversation) == part {
			return conversation, nil
		}
		if !known[conversation] {
			known[conversation], all = true, append(all, named{id: string(conversation)})
		}
	}
	one, err := theOne("conversation", part, all)
	return core.ConversationID(one), err
}

// partOfSession returns the session whose id begins or ends with a part; "" if there is none.
func partOfSession(part string, sessions []core.SessionSummary) (core.SessionID, error) {
	one, err := theOne("session", part, cli.List(sessions, func(s core.SessionSummary) named {
		return named{string(s.ID), count(s.Messages, "message")}
	}))
	return core.SessionID(one), err
}
