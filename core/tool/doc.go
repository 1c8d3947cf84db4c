// Package tool holds what an agent can do: the Tool value, the registry, the one executor, and the built-in tools, a file each.
//
// A tool that changes nothing in the world runs at once (Executor.Read). One that does runs only through Executor.Act, which is
// the single place in the program where a mutating tool's Do is called. Act, in this order:
//
//  1. loads the approval by the id the turn was paused with, from the database, never from the resumed payload. Not there, or
//     not approved: a typed error, the tool does not run;
//  2. compares the digest of tool and arguments with the approval's: another tool or other arguments do not run;
//  3. computes the typestate gate over all that the turn did before (Prefix): closed, ready for a mutation under the rules of
//     today, and the very evidence that the approval was asked for on. Without a clear yes it does not run, and where the rules
//     changed the error is approval_stale. A pass before the suspension counts for nothing. Only a call that an earlier attempt
//     began goes on without one: to 4, for what came of it;
//  4. commits the intent under the approval's id. If one was there, the tool is not run: the stored result is given again, or,
//     where there is none, the outcome is reported as unknown and that is stored as the result;
//  5. runs the tool;
//  6. commits the result.
//
// A crash before 4 leaves nothing; the turn is taken again and starts at 1. A crash between 4 and 6 leaves the intent alone: the
// tool may or may not have run, nobody can tell, so it is never run again (law 5). A crash after 6 gives the same result again.
package tool
