package postgres

import (
	"net/url"
	"strings"

	"gatehouse/core"
)

// foreign are parameters that other programs read in a database's address and the server does not know, with what to
// write in their place. A value stands behind "=" where only that one is foreign.
var foreign = []struct{ parameter, instead string }{
	{"pgbouncer", "leave it out: gatehouse finds out by itself whether a connection pooler is in between"},
	{"schema", "write search_path=SCHEMA in its place, or leave it out for the schema public"},
	{"sslmode=no-verify", "write sslmode=require, which checks no certificate either, or better verify-full"},
	{"ssl", "write sslmode=require or sslmode=verify-full in its place"},
	{"connection_limit", "write pool_max_conns in its place"},
	{"pool_timeout", "leave it out"},
	{"socket_timeout", "leave it out"},
	{"supa", "leave it out"},
}

// refuseForeign refuses an address with such a parameter, and names it (invalid). It names no value of the address.
func refuseForeign(address string) error {
	_, query, _ := strings.Cut(address, "?")
	values, err := url.ParseQuery(query)
	if err != nil || !strings.Contains(address, "://") {
		return nil // what can't be read is told by who reads it
	}
	for _, f := range foreign {
		name, value, one := strings.Cut(f.parameter, "=")
		if values.Has(name) && (!one || values.Get(name) == value) {
			return core.Errorf(core.Invalid, "The address of the database has the parameter %s, which another "+
				"program reads and Postgres does not know: %s. See gatehouse help cmd/gatehouse#postgres.",
				f.parameter, f.instead)
		}
	}
	return nil
}
