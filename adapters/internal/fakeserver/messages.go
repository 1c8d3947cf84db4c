package fakeserver

import "strings"

// Collect returns the messages of the records for which pick returns true, in order.
func Collect[R, M any](records []R, pick func(R) (M, bool)) []M {
	var found []M
	for _, r := range records {
		if m, ok := pick(r); ok {
			found = append(found, m)
		}
	}
	return found
}

// FirstWith returns the first message that shows the text.
func FirstWith[M interface{ Shown() string }](messages []M, text string) (found M, is bool) {
	for _, m := range messages {
		if strings.Contains(m.Shown(), text) {
			return m, true
		}
	}
	return found, false
}
