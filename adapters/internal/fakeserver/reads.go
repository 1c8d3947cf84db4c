package fakeserver

// Reads hides new messages from reads for a while, as on platforms whose reads lag behind their writes.
type Reads struct {
	host   *Host
	lag    int
	hidden []*Visibility
}

// Visibility says whether reads show a message yet. The zero value is a visible one.
type Visibility struct {
	left int // reads until it shows; below zero: until ReleaseReads
}

// LagReads hides each message that the bot posts from now on from as many reads that should have shown it; below zero hides it until
// ReleaseReads. 0 ends the lag for later messages.
func (r *Reads) LagReads(reads int) {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	r.lag = reads
}

// ReleaseReads shows every hidden message and ends the lag.
func (r *Reads) ReleaseReads() {
	r.host.mu.Lock()
	defer r.host.mu.Unlock()
	for _, v := range r.hidden {
		v.left = 0
	}
	r.lag, r.hidden = 0, nil
	r.host.Changed()
}

// Hide gives a new message of the bot the lag that is set. The caller holds the lock.
func Hide(r *Reads, v *Visibility) {
	if v.left = r.lag; v.left != 0 {
		r.hidden = append(r.hidden, v)
	}
}

// Shows says whether a read shows the message, and counts the read. The caller holds the lock.
func (v *Visibility) Shows() bool {
	if v.left > 0 {
		v.left--
		return false
	}
	return v.left == 0
}
