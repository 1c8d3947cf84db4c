package webhook

import "time"

// SetBodyTime changes how long a body may take.
func (r *Reader) SetBodyTime(d time.Duration) { r.bodyTime = d }
