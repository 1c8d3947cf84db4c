// Package tools brings the tools that reach outside of the program: the file of tools that an admin writes
// (GATEHOUSE_TOOLS), each of which runs a command or makes one HTTP request, and http.fetch.
//
// Nothing is kept between calls. A call gets its key, the same on every attempt: a command in GATEHOUSE_CALL_KEY, a
// server in the header Idempotency-Key. If gatehouse is killed while a call runs, a command may have done a part, and a
// server may have got the request: the outcome is unknown, and the executor (package tool) decides whether the call
// runs again.
//
// A command gets its arguments as JSON on its standard input, never through a shell, and no variables but those that
// the file lists. The input is a finished file before the command begins, so none begins with less than its arguments.
// On Linux the system kills a command when gatehouse dies; what the command has started itself, or a program with other
// rights than gatehouse's, may go on. On other systems the command may, too. Its process group is killed when its time
// is up. When gatehouse stops and the time to drain is over, the group gets SIGTERM and, 5 s later, SIGKILL. What a
// command leaves in the background when it ends by itself is not waited for.
//
// Each host that is reached, by http.fetch, by a tool, or by a redirect, must be in GATEHOUSE_FETCH_HOSTS, and the
// address that is connected to must be public: it is checked after the name was resolved, for each connection (package
// egress). Proxies are not used, because behind one the address is not known.
//
// A command that ends with another status than 0 has failed. How it ended and what it printed is the result's output,
// for the model alone; the sentence for people is short. No more than twice the limit of a result is held in memory;
// what is longer is cut, and says so. The values of secrets, and of listed variables whose names are those of secrets,
// are hidden in what a tool returns.
package tools

import _ "embed" // the page

// Page is README.md, which gatehouse help prints.
//
//go:embed README.md
var Page string
