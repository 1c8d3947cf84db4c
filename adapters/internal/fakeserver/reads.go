package fakeserver

// Reads hides new messages from reads for a while, as on platforms where reads lag behind writes.
type Reads struct {
	host *Host
	lag  int
}

// Visibility is whether reads show a message yet. The zero value is visible.
type Visibility struct {
	left int // how many reads still hide it; negative: all
}

// LagReads hides each message that the bot posts from now on from so many of the reads that would show it, a negative
// number from all. 0 ends the lag for later messages.
func (r *Reads) LagReads(reads int) {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	r.lag = reads
}

// Hide applies the current lag to a new message of the bot. The caller holds the lock.
func Hide(r *Reads, v *Visibility) { v.left = r.lag }

// Shows reports whether a read shows the message, and counts the read. The caller holds the lock.
func (v *Visibility) Shows() bool {
	if v.left > 0 {
		v.left--
		return false
	}
	return v.left == 0
}
