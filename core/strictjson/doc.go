// Package strictjson reads JSON that somebody else wrote, without the kindnesses of encoding/json that turn into faults at a
// boundary: keys are matched exactly, a key that stands twice is refused (unless the caller says Repeats), invalid UTF-8 and lone
// surrogates are refused, nothing may follow the value, nesting has a limit, numbers keep their digits. Every value knows its line,
// column and JSON pointer, so that an error can point.
//
// Parse gives a tree. It reads all of its input or fails with one *Error; it never panics on any input.
package strictjson
