// Package procgroup starts a process in a group of its own and ends the group: the process and all that it has started. Where the system has no
// process groups, as Windows, it ends the process alone.
package procgroup
