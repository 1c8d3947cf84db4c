// Package chat is the chat harness over a graph (harness-chat): what turns a message or a signal into one invocation, and the
// invocation's end into an outcome.
//
// Send runs one turn of a conversation. In this order: the session id and the message are checked, before anything is locked or
// read; the session's lock is taken, so that turns of one session follow each other while those of others run beside it; the graph
// is invoked with the session id and the one message, so that the engine loads the history and adds to it; and its result becomes
// Completed, Errored or Suspended. Replies and pending messages are the tail of the history behind a mark by index: its length
// once the person's message stood in it. They are never found by looking at what they say.
//
// Resume is the signal's way in, under the same lock as Send. The coordinator is the PauseStore: every paused invocation has a
// stored record, so a route back exists after a restart too. The mark of a resumed turn is the history's length once it is rebased
// and the payload lies over it, so pending messages are not repeated. Its outcome goes to the listeners subscribed to the session,
// once, a second suspension included; where nobody listens it is kept and handed to the next who subscribes. A resume that takes
// nothing up (an unknown or used signal, a payload that does not fit) is told to its caller alone.
//
// What may come twice: a message, which is for the caller to know (WithInvocation makes a second attempt write over the rows of the
// first); a signal, whose second arrival finds nothing. What is kept between calls: locks in use, listeners and outcomes that
// nobody took. One Harness serves a process; dispatch gives each call a store that stages what the turn writes (WithStores).
//
// The harness itself neither reads nor writes a session; the engine does (harness §8.1). It retries nothing (harness §7.1).
//
// Decision (2026-11): an outcome is delivered after the lock is released, so a listener may Send. Two resumes of one session that
// end at the same moment may therefore be heard of in either order.
package chat
