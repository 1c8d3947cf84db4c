// Package mask makes text fit to be shown: a secret is hidden behind a mark that says how much it hides, and what is
// invisible is shown as an escape, unless it joins or shapes what can be seen. What a secret is, is told by its form
// (Text), by the name of its key, or by a JSON pointer to it (JSON). Everything here is a pure function of its
// arguments.
package mask
