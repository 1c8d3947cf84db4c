package fakeserver

import "strings"

// Collect are the messages of records that pick picks, in order.
func Collect[R, M any](records []R, pick func(R) (M, bool)) []M {
	var found []M
	for _, r := range records {
		if m, ok := pick(r); ok {
			found = append(found, m)
		}
	}
	return found
}

// FirstWith is the first of the messages that shows the text.
func FirstWith[M interface{ Shown() string }](messages []M, text string) (found M, is bool) {
	for _, m := range messages {
		if strings.Contains(m.Shown(), text) {
			return m, true
		}
	}
	return found, false
}
