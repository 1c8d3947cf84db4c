// Package interp runs scripts of HRF envelopes: a pure interpreter. Next takes the state and the result of the last effect, and returns the
// next state and the next effect. The state is plain JSON, so a script that waits for an approval can be stored and go on in another process.
package interp
