// Package graph is the graph engine: a state of declared fields, nodes that return partial updates, edges, graphs
// inside graphs, middleware, sessions, suspension and observers, as specified by OpenArmature's graph-engine, sessions
// and suspension. It does not depend on chats, tools or models.
//
// A graph is declared once (New … Compile) and then never changes. Invoke runs one segment of an invocation: from the
// entry, or from a pause, to END, an error or the next pause. A segment has a goroutine only while it runs: more where
// nodes run in parallel or have middleware, and one for its observers until they have received all events. A paused
// invocation is only a stored record.
//
// State never changes in place: an update is merged into another state, field by field through reducers, and what keys
// hand out are copies. A value is checked against its field's type whenever it changes, and the whole state at entry
// and at END.
//
// Sessions. Entry state = defaults, overwritten by what the session's record holds (migrated if its version differs),
// then what the caller supplied: through the reducer if the record held the field, otherwise in place of the default.
// At END the stored fields are saved under the graph's own schema version; an error saves nothing, an explicit
// SaveSession has committed before. Without a session id the store is not touched at all.
//
// History. The field Messages of an invocation that is bound to a session is the session's history, a persistent list
// that grows only. The engine asks it for its length and nothing else, so what a turn costs does not depend on how long
// the conversation is. It is saved as SessionRecord.Messages, never as part of a state, so a paused invocation's frame
// leaves it out, and a resume takes the session's messages of that moment: messages that arrived during the pause are
// neither lost nor doubled. Each save names the rows it writes by invocation and number (core.Writer): the first
// segment counts from 0, the next from the recorded end of the last one, so a segment that runs again after a crash
// replaces its own rows. All other fields come from the paused state, so the last write wins for them (sessions §8.1).
//
// Suspension. Suspend marks the attempt; whatever the node returns then, the engine stores the paused record and the
// session together through PauseStore.Pause, and only then reports to observers and the caller. If that fails the
// invocation has failed (suspension_persistence_failed) and nothing can be resumed. A resume finds the record, overlays
// the payload (fields are replaced, without reducers), validates, and only then consumes the record: of two resumes one
// wins, and an invalid payload consumes nothing. The store must undo the consumption after a crash: dispatch gives each
// turn a staging store, whose consumption commits with the turn's end.
//
// Graphs inside. A node may be a compiled graph (Subgraph), one for each item of a list (FanOut), or several side by
// side (Branches). Each runs on a state of its own, made by a Projection from the parent's, and its end is an update of
// the parent's, merged by the parent's reducers. The session is the outermost graph's alone. The results of a
// container's instances are merged once all have ended, in the order of the items or of the declaration, so that the
// result does not depend on which instance was first.
//
// A suspension inside a subgraph suspends the invocation: the record has a frame for each graph from the outermost to
// the one that paused, and a resume continues inside, after the node; each of these graphs takes from the payload what
// it declares. A suspension inside a container suspends the container: the other instances are cancelled, none of them
// contributes to the state, and a resume continues after the container. Frames of instances are not kept: a resume
// would have to run the others again, whose work may already be visible. Where a container collects failures nothing
// may suspend.
//
// Middleware wraps the nodes of its graph and never crosses a graph's boundary: it wraps a subgraph as one node. See
// Middleware for how a suspension passes it.
//
// Events and spans. An observer gets the events of attempts, in order and asynchronously; a Tracer is called
// synchronously and may change the context. Each call of the innermost next is an attempt with events of its own. A
// success is reported once it is merged and its edge evaluated, a failure at once, a suspension once it is stored.
//
// Decision (2026-11): the state is a map of checked values under typed keys, not a Go struct of the user's. A struct
// would be typed without keys, but reducers, projections, payload overlays and migrations work by field name, and each
// would need reflection over tags; a key gives names and types in one place.
//
// Decision (2026-11): a node that is a graph has no events of its own, other than a container. Its pre-state and its
// update are in its nodes' Parents and in the next node's pre-state, and each step of the counter belongs to work that
// was done.
//
// Decision (2026-11): the state of a suspended outcome is the outermost graph's, as it was before the node that holds
// the pause; the path to the pause is Result.Namespace. The alternative, the inner state, is of a schema that the
// caller does not know.
//
// Decision (2026-11): a container that is paused with KeepNode runs again as a whole, with nothing of its first run
// kept: otherwise an instance that had ended would be counted twice.
//
// Decision (2026-11): a record that can't be resumed by this graph is refused instead of run as far as possible. A new
// graph version means that paused turns do not fit, unless a migration makes them fit.
package graph
