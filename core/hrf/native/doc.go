// Package native reads and writes the token form of HRF messages, as gpt-oss models speak it. HRF does not describe
// this form; this is ours:
//
//	text   = other { frame other }                              ; other: text without "<|start|>"
//	frame  = "<|start|>" role [ "<|channel|>" channel ] [ "<|constrain|>" type ] "<|message|>" body end
//	role   = word and "to=" recipient, in any order; the recipient may be missing
//	channel= the same; either of the two may be missing, and the recipient stands in one place only
//	end    = "<|end|>" | "<|call|>" | "<|return|>"
//
// Words are separated by white space. No token may stand anywhere else within a frame, so a frame that lacks its end is
// found at the next one.
//
// Read gives an envelope of version 1.0, which only hrf.Parse checks. Like the reference, it omits what an envelope
// can't hold, and names each omission:
//   - Text outside frames, if it is more than white space.
//   - A channel that HRF does not have, and further words after a channel. The names of channels are read in any case.
//   - <|call|> and <|return|> as terminations outside the assistant's commentary. A model ends its last message with
//     <|return|> to say that it has finished; as a termination, it would end a script after its first step.
//   - Line breaks at the beginning and the end of a text. One on either side belongs to the form and is not named.
//
// What a frame leaves out:
//   - The channel of the assistant is final.
//   - The type of the assistant's commentary is json if it ends with <|call|> or <|return|>. If it ends with <|end|>, a
//     body that begins with a brace is harmony-script if it is an object with steps, else json. Everything else is
//     text. The reference also takes a single step for a script, which makes no valid envelope.
//
// Bodies of json and harmony-script are JSON, read strictly. The type text is a missing contentType, because HRF has no
// other name for it; and what is missing is left out, not null.
//
// Write refuses an envelope that Read would not give back, and names all that the form can't hold: in a text, a token,
// or a line break at its beginning or end; white space or "<|" in a role or a recipient; a termination outside the
// assistant's commentary, and commentary of the assistant without one; a version other than 1.0. JSON loses its white
// space, never the order of its members or the digits of its numbers.
package native
