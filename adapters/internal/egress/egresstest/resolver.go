// Package egresstest has a name server for tests of what adapters reach.
package egresstest

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// Resolver resolves these names to these addresses, through a real name server on loopback, and no others.
func Resolver(t testing.TB, names map[string]string) *net.Resolver {
	t.Helper()
	at, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = at.Close(); <-done })
	go func() {
		defer close(done)
		serve(at, names)
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", at.LocalAddr().String())
	}}
}

// serve answers questions until the connection is closed.
func serve(at net.PacketConn, names map[string]string) {
	buffer := make([]byte, 1500)
	for {
		n, from, err := at.ReadFrom(buffer)
		if err != nil {
			return
		}
		var asked dnsmessage.Message
		if asked.Unpack(buffer[:n]) != nil || len(asked.Questions) != 1 {
			continue
		}
		if raw, err := answer(asked, names).Pack(); err == nil {
			_, _ = at.WriteTo(raw, from)
		}
	}
}

func answer(asked dnsmessage.Message, names map[string]string) *dnsmessage.Message {
	q := asked.Questions[0]
	m := &dnsmessage.Message{
		Header: dnsmessage.Header{ID: asked.ID, Response: true, Authoritative: true}, Questions: asked.Questions,
	}
	address, known := names[strings.TrimSuffix(q.Name.String(), ".")]
	if !known {
		m.RCode = dnsmessage.RCodeNameError
		return m
	}
	header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
	switch a := netip.MustParseAddr(address); {
	case a.Is4() && q.Type == dnsmessage.TypeA:
		m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: a.As4()}}}
	case !a.Is4() && q.Type == dnsmessage.TypeAAAA:
		m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}}}
	}
	return m
}
