// Package egress is what the adapters share that make requests to addresses which others name: which hosts an admin
// lists, and a dialer that reaches no other address than those may lead to.
//
// Hosts are judged twice. Hosts.Lists compares the text of a URL with the list, before anything is sent. Dialer checks
// the very address that is connected to, after the name was resolved, for each connection: a listed name that leads to
// a private address is not reached, unless it is listed by its whole name with the port. Reserved, link-local and
// metadata addresses are reached by nobody. Proxies are not used, because behind one the address is not known.
//
// The sentences of a refusal belong to the adapter, which knows the setting that lists the hosts.
package egress
