// Package tool holds what an agent can do: the Tool value, the registry, the executor, and the built-in tools, one file
// each.
//
// A read-only tool runs at once (Executor.Read). A mutating tool runs only through Executor.Act, the one place in the
// program that calls the Do of a mutating tool. Act, in this order:
//
//  1. loads the approval by the id that the turn was paused with, from the database, never from the resumed payload. If
//     it does not exist or is not approved, the result is a typed error and the tool does not run;
//  2. compares the digest of tool and arguments with the approval's: another tool or other arguments do not run;
//  3. computes the typestate gate over everything that the turn did before (Prefix): it must be closed, ready for a
//     mutation under the current rules, and the evidence that the approval was requested with. Anything else does not
//     run; if the rules changed, the error is approval_stale. That the gate passed before the suspension does not
//     count. Only a call that an earlier attempt began continues without it, to get its stored outcome in step 4;
//  4. commits the intent under the approval's id. If there is one already, the stored result is returned. If there is
//     none, the outcome is unknown: a tool that is declared idempotent goes on with step 5, if the gate is closed under
//     today's rules; any other tool does not run, the outcome is reported as unknown, and that is stored as the result;
//  5. runs the tool, with the approval's id as the key of the call;
//  6. commits the result.
//
// A tool may take several messages to its end, and ask people in between (Rounds, Paused): it keeps with the intent
// where it is, and an attempt that finds that in 4 goes on with 5 in place of an unknown outcome, also where the gate
// has closed since: nothing new is begun.
//
// A process that is ended because gatehouse stops (Tool.Process) has an unknown outcome in 6; that of an idempotent
// tool has none, as after a crash.
//
// A crash before 4 leaves nothing; the turn is claimed again and starts at 1. A crash between 4 and 6 leaves an intent
// without a result: the tool may or may not have run, so it never runs again (law 5), unless it is idempotent. What an
// idempotent tool does with a key that it has seen is its own concern; the earlier run may still be going on. A crash
// after 6 returns the same result again.
//
// Whatever goes wrong is a result that the model reads, a typed error (Failure): arguments that do not fit the schema
// (tool_arguments), before anything else is done with the call; a panic, a call that takes too long, a result that is
// too long, a call that was stopped (tool_failed). A mutating call that was stopped may have taken effect, and its row
// says so.
package tool
