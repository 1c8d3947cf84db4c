// Package policy decides what happens to an agent's call: it is allowed, it is denied, or certain people are asked.
//
// A policy is a YAML file (GATEHOUSE_APPROVAL_POLICY) with rules in order; the first that matches a call decides. Where
// none matches, and without a file, the Defaults decide: reading is allowed, anything else is asked of those whom
// GATEHOUSE_APPROVERS names. The result is a core.Rule, a snapshot that holds ids only: people and groups of the file
// are replaced by the ids that they stand for, and core.Rule.People says which of those are one person.
//
// Parse checks everything and reports all faults at once, each with its place and the remedy. There is never a policy
// of which a part was left out. Current holds the policy in force, and reads the file again when it is told to; a file
// that is invalid then changes nothing.
//
//	reader.go      the YAML file, which core/strictyaml reads
//	people.go      the sections people and groups
//	rules.go       the section rules; asking.go: whom, when and how a rule asks
//	glob.go        names of tools: which have a form, and which forms can be no tool's name
//	hours.go       working hours
//	asks.go        the section asks: who may be asked questions
//	condition.go   compiles and evaluates when
//	strict.go      makes conditions fail where expr would go on with nil
//	operators.go   what operators and functions do at run time
//	origins.go     where the values of a condition come from
//	words.go       the words that conditions compare variables with
//	decide.go      the rule for a call
//	undecidable.go requests that nobody could ever approve
//	warnings.go    what a policy probably does not mean, given the tools that there are
//	reach.go       rules that decide no call
//	tries.go       calls worth trying, to find one that a rule decides
//
// Conditions are expr-lang expressions. One that fails when it is evaluated is neither true nor false: a rule that
// allows does not match then, and one that asks or denies does. It fails if an argument is used that is not there, if a
// value has the wrong type, if an integer overflows, and if a number of the arguments is neither an int nor a float64.
//
// Decision, 2026-11: == and != between values of different kinds, and in without an item of the same kind, fail too.
// Otherwise args.env != "prod" would be true for ["prod"], and a rule that allows would let that through.
//
// Decision, 2026-11: whether a rule decides any call is found by trying calls, not by reasoning about conditions: each
// comparison with a literal gives values that it tells apart, and all combinations of them are evaluated as a real call
// is. Where a condition is more than such comparisons, or there are too many combinations, nothing is said: a warning
// is never a guess.
//
// Decision, 2026-11: now is no function of conditions. A decision is made again when the call is to run; it would
// change by itself.
package policy
