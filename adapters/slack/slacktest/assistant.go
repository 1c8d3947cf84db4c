package slacktest

import "time"

var assistantMethods = map[string]method{
	"assistant.threads.setStatus":           {scopes: []string{"assistant:write", "chat:write"}, do: setStatus},
	"assistant.threads.setTitle":            {scopes: []string{"assistant:write"}, do: onThread},
	"assistant.threads.setSuggestedPrompts": {scopes: []string{"assistant:write"}, do: onThread},
}

// statusLifetime is how long a working state is shown if it is not cleared.
const statusLifetime = 2 * time.Minute

// StatusChange is one change of a thread's working state; "" clears it.
type StatusChange struct {
	Channel string
	Thread  string
	Status  string
	At      time.Time
}

func statusKey(channel, thread string) string { return channel + "/" + thread }

func onThread(q *request) (object, *failure) {
	c := q.s.channels[q.args["channel_id"]]
	switch {
	case c == nil:
		return nil, fail("channel_not_found")
	case q.args["thread_ts"] == "":
		return nil, failWith("invalid_arguments", []string{"[ERROR] missing required field: thread_ts"})
	case c.byTS[q.args["thread_ts"]] == nil:
		return nil, fail("invalid_thread_ts")
	}
	return nil, nil
}

func setStatus(q *request) (object, *failure) {
	if answer, failed := onThread(q); failed != nil {
		return answer, failed
	}
	s, channel, thread := q.s, q.args["channel_id"], q.args["thread_ts"]
	change := StatusChange{Channel: channel, Thread: thread, Status: q.args["status"], At: s.o.Now()}
	if change.Status == "" {
		delete(s.statuses, statusKey(channel, thread))
	} else {
		s.statuses[statusKey(channel, thread)] = change
	}
	s.past = append(s.past, change)
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
	now, set := s.statuses[statusKey(channel, thread)]
	if !set || s.o.Now().Sub(now.At) >= statusLifetime {
		return ""
	}
	return now.Status
}

// Statuses returns all changes of working states that the app asked for.
func (s *Server) Statuses() []StatusChange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]StatusChange{}, s.past...)
}
