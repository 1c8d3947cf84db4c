// Package strictyaml reads the YAML files that people write for gatehouse, without the leniency of a decoder: keys are
// matched exactly, an unknown one is refused with the known one that may be meant, a repeated one is refused, and a
// file is one document of a limited size.
//
// A Reader collects all that is wrong with a file, each Fault with its line, its column and the remedy, so that people
// correct a file once. What a file means is its package's own: it walks the tree of gopkg.in/yaml.v3 with the methods
// of its Reader, and reports what does not fit.
//
// Decision, 2026-11: aliases are followed, within a limit of values; merge keys are refused, because a key that comes
// from elsewhere has no line to report.
package strictyaml
