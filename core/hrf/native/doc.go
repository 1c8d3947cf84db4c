// Package native reads and writes the token form of HRF messages, as gpt-oss models speak it. HRF does not describe this form; this is ours:
//
//	text   = { space } frame { { space } frame } { space }
//	frame  = "<|start|>" role [ "<|channel|>" channel ] [ "<|constrain|>" type ] "<|message|>" body end
//	role   = word and "to=" recipient, in any order; the recipient may be missing
//	channel= the same; either of the two may be missing, and the recipient stands in one place only
//	end    = "<|end|>" | "<|call|>" | "<|return|>"
//
// Words are separated by white space. No token may stand anywhere else, so a frame that lacks its end is found at the next one, and only white
// space may stand outside frames. One line break after <|message|> and one before the end belong to the form; the rest of a body is
// kept exactly.
//
// Read gives an envelope of version 1.0, which only hrf.Parse checks. What a frame leaves out:
//   - The channel of the assistant is final.
//   - The type of the assistant's commentary is json if it ends with <|call|> or <|return|>. If it ends with <|end|>, a body that begins with a
//     brace is harmony-script if it is an object with steps, else json. Everything else is text.
//   - <|end|> means termination "end" in the assistant's commentary, none elsewhere. <|call|> and <|return|> always are terminations.
//
// Bodies of json and harmony-script are JSON, read strictly. The type text is a missing contentType, because HRF has no other name for it; and
// what is missing is left out, not null. The reference differs in both. It also loses things that this form keeps or refuses: the termination
// <|return|> on the channel final, text outside frames, and the outer line breaks of a body.
//
// Write refuses an envelope that Read would not give back, and names all that the form can't hold: a token in plain text, white space or "<|" in
// a role or a recipient, a termination "end" outside the assistant's commentary, commentary of the assistant without a termination, a version
// other than 1.0. JSON loses its white space, never the order of its members or the digits of its numbers.
package native
