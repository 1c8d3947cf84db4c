package wire

import "unicode/utf8"

// CheckIDs refuses the name of a session or conversation outside a message that a message could not have; "" is
// allowed.
func CheckIDs(session, conversation string) *Fault {
	for field, id := range map[string]string{"session": session, "conversation": conversation} {
		if len(id) > maxName || !utf8.ValidString(id) {
			return &Fault{
				Code: InvalidRequest, Message: "The parameter " + field + " is too long, or is not UTF-8.",
				Field: field,
			}
		}
	}
	return nil
}
