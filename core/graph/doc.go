// Package graph is the graph engine: a state of declared fields, nodes that return partial updates, edges, sessions, suspension
// and observers, as OpenArmature's graph-engine, sessions and suspension say. It knows nothing of chats, tools and models.
//
// A graph is declared once (New … Compile) and then never changes. Invoke runs one leg of an invocation: from the entry, or from
// where it was paused, to END, an error or the next pause. A leg holds a goroutine only while it runs, and one for its observers
// until they have heard everything; a paused invocation is a record and nothing else.
//
// State never changes in place: an update is merged into another state, field by field through reducers, and what keys hand out
// are copies. A value is checked against its field's type whenever it changes, and the whole state at entry and at END.
//
// Sessions. Entry state = defaults, overwritten by what the session's record holds (migrated where its version is another), then
// what the caller supplied: through the reducer where the record held the field, else in place of the default. At END the stored
// fields are saved under the graph's own schema version; an error saves nothing, an explicit SaveSession has committed before.
// Without a session id the store is not touched at all.
//
// History. The field Messages of an invocation that is bound to a session is the session's history, a persistent list that grows
// only. The engine asks it for its length and nothing else, so what a turn costs does not depend on how long the conversation is.
// It is saved as SessionRecord.Messages, never as part of a state, so a paused invocation's frame leaves it out, and a resume
// takes the session's messages of that moment: what was said meanwhile is neither lost nor doubled. Each save names the rows it
// writes by invocation and number (core.Writer): the first leg counts from 0, the next from where the record says the last one
// ended, so a leg that is run again after a crash replaces its own rows. All other fields come from the paused state, so the last
// write wins for them, as sessions §8.1 has it.
//
// Suspension. Suspend marks the attempt; whatever the node returns then, the engine stores the paused record and the session
// together through PauseStore.Pause, and only then tells observers and the caller. If that fails the invocation has failed
// (suspension_persistence_failed) and nothing can be resumed. A resume finds the record, overlays the payload (fields are
// replaced, reducers not asked), validates, and only then consumes the record: of two resumes one wins, and a payload that does
// not fit costs nothing. A crash behind the consumption is the store's to undo: dispatch gives each turn a staging store, whose
// consumption commits with the turn's end.
//
// Room for what is to come: a namespace and a list of frames are already the place of subgraphs; a reducer is a name and a
// function.
//
// Decision (2026-11): the state is a map of checked values under typed keys, not a Go struct of the user's. A struct would be
// typed without keys, but reducers, projections, payload overlays and migrations work by field name, and each would need
// reflection over tags; a key gives names and types in one place.
//
// Decision (2026-11): a record that can't be resumed by this graph is refused instead of run as far as it goes. A new graph
// version says that paused turns do not fit, unless a migration says that they do.
package graph
