package fakeserver

import "net/http"

// Server is what every fake server offers to tests. The fake embeds it, instantiated with its own Call.
type Server[C any, P CallPointer[C]] struct {
	Record[C, P]
	Reads
	Foreign
}

// New returns the shared part of a fake. answering adds the platform's headers to the answer of an injected trouble,
// and its fields to the recorded call. It is called under the lock.
func New[C any, P CallPointer[C]](h *Host, answering func(c *C, t Trouble, header http.Header)) Server[C, P] {
	return Server[C, P]{
		Record: Record[C, P]{host: h, answering: answering}, Reads: Reads{host: h}, Foreign: Foreign{host: h},
	}
}

// TB is the part of *testing.T and *testing.B that a fake needs.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// CloseAfter closes a fake when the test ends, and then reports each of the fake's problems as an error of the test.
func CloseAfter(t TB, shut func(), problems func() []string) {
	t.Cleanup(func() {
		shut()
		for _, problem := range problems() {
			t.Errorf("%s", problem)
		}
	})
}
