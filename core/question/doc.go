// Package question is what people are asked while a turn waits: a text, and what an answer has to look like. An answer
// is one value or, of a form, an object of up to MaxFields values. What it must look like is read from a part of JSON
// Schema that every platform can draw: texts, numbers, yes or no, and choices. Everything here is a pure function of
// its arguments, and the errors are sentences for who asks or answers.
package question
