package settings

import (
	"os"

	"gatehouse/adapters/tools"
	"gatehouse/core/tool"
)

// openTools reads the file of tools; without a path there are none. The names of the tools that gatehouse has itself
// are taken, http.fetch's also while no host is listed.
func openTools(path string, hosts tools.Hosts) (*tools.Current, error) {
	o := tools.Options{Hosts: hosts, Getenv: os.LookupEnv}
	for _, own := range []tool.Tool{
		tool.Calc(), tool.Clock(nil), tool.NoteAdd(nil), tool.NoteList(nil), tool.AskPeople(), tools.Fetch(hosts),
	} {
		o.Taken = append(o.Taken, own.Name)
	}
	return tools.Open(path, o)
}
