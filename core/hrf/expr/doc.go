// Package expr is the language of HarmonyScript's expressions, conditions, templates and tool arguments. All are compiled once, when a script
// is checked, and evaluated without side effects.
package expr
