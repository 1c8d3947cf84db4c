package fakeserver

import "net/http"

// Server is what every fake server offers to tests. The fake embeds it, as a type of its own that names its Call.
type Server[C any, P CallPointer[C]] struct {
	Record[C, P]
	Reads
	Foreign
}

// New is the shared part of a fake. answering adds what the platform has in the answer of an injected trouble: headers, and fields of the
// call. It is called under the lock.
func New[C any, P CallPointer[C]](h *Host, answering func(c *C, t Trouble, header http.Header)) Server[C, P] {
	return Server[C, P]{Record: Record[C, P]{host: h, answering: answering}, Reads: Reads{host: h}, Foreign: Foreign{host: h}}
}

// TB is what a fake needs of a *testing.T or *testing.B.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// CloseAfter closes a fake when the test ends, and then reports each of its problems.
func CloseAfter(t TB, shut func(), problems func() []string) {
	t.Cleanup(func() {
		shut()
		for _, problem := range problems() {
			t.Errorf("%s", problem)
		}
	})
}
