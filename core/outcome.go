package core

// Outcome is the spec's ChatTurnOutcome (harness-chat §5.2): Completed, Errored or Suspended, and nothing else.
type Outcome interface{ outcome() }

// Completed is a turn that ran to its end. Replies are the messages added during the turn, all roles, in order; never nil, maybe
// empty; the user's own message is not among them.
type Completed struct {
	Replies []Message
}

// Errored is a turn that failed. Reply has the role system and is not part of the history. Err is for the log.
type Errored struct {
	Bucket   Bucket
	Category Category
	Reply    Message
	Err      error
}

// Suspended is a turn that waits for a signal. Pending are the messages added before the pause; never nil, maybe empty.
type Suspended struct {
	Descriptor Descriptor
	Pending    []Message
	Invocation InvocationID
}

func (Completed) outcome() {}
func (Errored) outcome()   {}
func (Suspended) outcome() {}
