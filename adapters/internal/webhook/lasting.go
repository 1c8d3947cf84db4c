package webhook

import (
	"context"
	"net/http"
	"time"
)

// handleTime is how long what a request asks for may take to be stored.
const handleTime = 10 * time.Second

// Lasting returns a context for what a verified request asks for. It does not end when the sender hangs up. If this
// process was stopped for a while, or its machine was, the platform has given up meanwhile, and it sends a press only
// once: what has arrived counts, although nobody waits for the answer.
func Lasting(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(r.Context()), handleTime)
}
