// Package chat is the chat harness over a graph (harness-chat): a message or a signal becomes one invocation, and the
// invocation's result an outcome.
//
// Send runs one turn of a conversation. In this order: the session id and the message are checked, before anything is
// locked or read; the session's lock is taken, so that turns of one session run one after the other, and those of
// different sessions in parallel; the graph is invoked with the session id and the one message, so that the engine
// loads the history and adds to it; and its result becomes Completed, Errored or Suspended. Replies and pending
// messages are the tail of the history from an index on: its length including the person's message. They are never
// found by their content.
//
// Resume handles a signal, under the same lock as Send. The coordinator is the PauseStore: every paused invocation has
// a stored record, so it can be resumed after a restart too. The index of a resumed turn is the length of the session's
// current history, with the payload overlaid, so pending messages are not repeated. Its outcome goes to the session's
// subscribers, once, a second suspension included; without a subscriber it is kept for the next one. A resume that
// fails before it runs (an unknown or used signal, a payload that does not fit) is reported only to its caller.
//
// SendStreaming and ResumeStreaming are the same with somebody who hears what the turn does and says while it runs
// (core.Deltas, harness-chat §9). The outcome does not depend on who hears, and nothing that was heard is kept.
//
// A message may come twice: the caller must know (with WithInvocation a second attempt overwrites the rows of the
// first). A signal may come twice: the second finds nothing. The harness keeps between calls: locks in use,
// subscribers, and outcomes without a subscriber. One Harness serves a process; dispatch gives each call a store that
// stages what the turn writes (WithStores).
//
// The harness itself neither reads nor writes a session; the engine does (harness §8.1). It retries nothing (harness
// §7.1).
//
// Decision (2026-11): an outcome is delivered after the lock is released, so a listener may Send. Two resumes of one
// session that end at the same moment may therefore be delivered in either order.
package chat
