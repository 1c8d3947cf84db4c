// Package expr is the language of HarmonyScript's expressions, conditions, templates and tool arguments. All are
// compiled once, when a script is checked, and evaluated without side effects. HRF speaks of a "runtime evaluator" and
// leaves the language open; this is ours:
//
//	expression = reference | call
//	condition  = ( reference | call ) [ operator operand ]      ; operators: == != < <= > >=
//	operand    = reference | call | literal
//	reference  = "$vars." path | "$input." path                 ; the $ may be left out within a call
//	path       = name *( "." name | "[" integer "]" )           ; names: letters, digits, "_", "-"
//	call       = "$len(" operand ")" | "$map(" operand "," string ")"
//	literal    = number | 'text' | "text" | true | false | null | word
//	template   = text with "{{ vars.path }}" and "{{ input.path }}"
//	argument   = an expression, if the string begins with $vars. $input. $len( or $map(; a leading "$$" stands for "$"
//
// References. What is missing is null. A variable is found by its exact name, else by its name in any case; names of
// the input and names within a value are exact. Indexes count from 0. ".length" of a list or a text is its $len, unless
// an object has a member of that name.
//
// Calls. $len counts the items of a list and the characters (Unicode code points) of a text; of anything else it is 0.
// $map takes one member of every object in a list and leaves out the objects that lack it; of anything else it is an
// empty list. Quoted text has no escapes.
//
// Conditions. Without an operator, null, false and blank texts are false; all else is true, also 0, [] and {}: write
// $len(…) > 0 for a list. Two numbers, or texts that are numbers, compare as decimals, exactly. Null equals only null,
// and is never less or greater than anything. Everything else compares as the texts that a template would insert, byte
// by byte.
//
// Templates. Null inserts nothing, a text itself, a number its shortest decimal form, a list or an object compact JSON
// with sorted keys. What is inserted is never read again, and braces around anything else are text.
//
// Arguments. Strings are evaluated at any depth, keys never. Strings that begin with another "$", such as "$5.00", are
// text.
//
// Compiling takes linear time; an expression has at most 4,096 bytes, and its calls nest at most 32 deep.
package expr
