package slacktest

import "time"

var assistantMethods = map[string]method{
	"assistant.threads.setStatus": {scopes: []string{"assistant:write", "chat:write"}, do: setStatus},
}

// statusLifetime is how long a working state is shown if it is not cleared.
const statusLifetime = 2 * time.Minute

// shownStatus is a thread's working state; "" for none.
type shownStatus struct {
	text string
	at   time.Time
}

func statusKey(channel, thread string) string { return channel + "/" + thread }

func setStatus(q *request) (object, *failure) {
	s, channel, thread := q.s, q.args["channel_id"], q.args["thread_ts"]
	c := s.channels[channel]
	switch {
	case c == nil:
		return nil, fail("channel_not_found")
	case thread == "":
		return nil, failWith("invalid_arguments", []string{"[ERROR] missing required field: thread_ts"})
	case c.byTS[thread] == nil:
		return nil, fail("invalid_thread_ts")
	}
	s.statuses[statusKey(channel, thread)] = shownStatus{text: q.args["status"], at: s.o.Now()}
	s.changed()
	return nil, nil
}

// Status returns the working state that a thread shows now, "" for none. As in Slack, it ends with a post of the bot in
// the thread, or after two minutes.
func (s *Server) Status(channel, thread string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statusNow(channel, thread)
}

func (s *Server) statusNow(channel, thread string) string {
	now := s.statuses[statusKey(channel, thread)]
	if s.o.Now().Sub(now.at) >= statusLifetime {
		return ""
	}
	return now.text
}
