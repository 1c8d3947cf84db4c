// Package strictjson parses JSON from outside, without the leniency of encoding/json: keys are matched exactly,
// repeated keys are refused (unless the caller passes Repeats), invalid UTF-8 and lone surrogates are refused (unless
// it passes Replace), nothing may follow the value, nesting is limited, and numbers keep their digits. Every value
// knows its line and column, and errors have a JSON pointer.
//
// Parse gives a tree. It reads all of its input or fails with one *Error; it never panics. Reader reads the same
// without a tree, for the few values of a text that matter.
package strictjson
