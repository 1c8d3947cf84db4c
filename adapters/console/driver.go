package console

import (
	"regexp"

	"gatehouse/core"
)

var _, _ core.Driver = (*Config)(nil), Local{}

// Config is the terminal as a driver. gatehouse chat opens it, with the options that Open does not fill.
type Config struct {
	core.NoSettings
	Options
}

// Name is "console".
func (*Config) Name() string { return Name }

// Title is "the terminal".
func (*Config) Title() string { return "the terminal" }

// IDs are the names of the machine's users.
func (*Config) IDs() core.IDs { return idsOf(Name) }

// Open makes the console.
func (c *Config) Open(d core.Deps) (core.Platform, error) {
	o := c.Options
	o.Log, o.Words, o.Cards = d.Log, d.Words, d.Cards
	return New(o), nil
}

// Local is what ids for trying out rules begin with: somebody at gatehouse's own machine, whichever way they come.
// Nobody acts with one.
type Local struct{ core.NoSettings }

// Name is core.LocalPerson.
func (Local) Name() string { return core.LocalPerson }

// Title says where they are.
func (Local) Title() string { return "gatehouse's own machine" }

// IDs are names.
func (Local) IDs() core.IDs {
	ids := idsOf(core.LocalPerson)
	ids.Person.Example = ""
	return ids
}

var personName = regexp.MustCompile(`^[^\s:,]+$`)

func idsOf(platform string) core.IDs {
	return core.IDs{
		Person: core.IDForm{Like: personName, Example: platform + ":ann"},
		Wanted: "id", Remedy: "write " + platform + ":NAME with a name without spaces",
	}
}
