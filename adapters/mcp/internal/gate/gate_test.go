package gate

import (
	"context"
	"strings"
	"testing"
)

func TestTheGateReadsTheHeadAsTheSDKDoes(t *testing.T) {
	const all, ping = "all of it", `{"id":7,"jsonrpc":"2.0","method":"ping","params":{}}`
	for message, want := range map[string]struct {
		in      string
		garbage bool
	}{
		`{"jsonrpc":"2.0","id":7,"result":{}}`:                            {in: all},
		`{"jsonrpc":"2.0","id":8,"error":{"code":1}} `:                    {in: all},
		"\ufeff" + `{"jsonrpc":"2.0","id":9,"result":{}}`:                 {in: `{"jsonrpc":"2.0","id":9,"result":{}}`},
		`{"jsonrpc":"2.0","id":7,"result":{"Method":1,"method":1}}`:       {in: all},
		`{"id":7,"method":"ping"}`:                                        {in: all},
		`{"id":7,"method":"ping","Method":null}`:                          {in: all}, // as a request
		`{"id":7,"method":"ping","Method":null,"a":"` + long + `"}`:       {in: ping},
		`{"id":7,"\u006dethod":"ping","a":"` + long + `"}`:                {in: ping},
		`{"id":7,"method":"` + long + `"}`:                                {},
		`{"ID":7,"method":"ping"}`:                                        {},
		`{"id":7,"method":null,"result":{}}`:                              {garbage: true},
		`{"id":7,"method":"","result":{}}`:                                {garbage: true},
		`{"id":7,"method":"ping","method":null}`:                          {garbage: true},
		`{"id":7,"id":8,"result":{}}`:                                     {garbage: true},
		`{"id":null,"result":{}}`:                                         {garbage: true},
		`{"id":7,"result":{}} {}`:                                         {garbage: true},
		`{"id":7,"result":{}`:                                             {garbage: true},
		`[{"id":7,"result":{}}]`:                                          {garbage: true},
		`{"result":{}}`:                                                   {garbage: true},
		`{` + strings.Repeat(`"a":`+strings.Repeat("[", 20_000), 1) + `}`: {garbage: true},
	} {
		garbage := false
		g := New(context.Background(), garbageFunc(func([]byte) { garbage = true }))
		if want.in == all {
			want.in = strings.TrimSpace(message)
		}
		if in := g.admit([]byte(message)); string(in) != want.in || garbage != want.garbage {
			t.Errorf("%.80s: %s, %v", message, in, garbage)
		}
	}
}

var long = strings.Repeat("x", maxRequest)

// garbageFunc is called with what is no message.
type garbageFunc func(message []byte)

func (f garbageFunc) Garbage(message []byte) { f(message) }
