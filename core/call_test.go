package core_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestLaw8_SecretArgumentsAreMaskedWhole(t *testing.T) {
	for _, c := range []struct {
		args   string
		secret []string
		want   string
		hidden int
	}{
		{`{"pin":4711,"n":1}`, []string{"/pin"}, `{"n":1,"pin":"•••••• (4 characters hidden)"}`, 4},
		{
			`{"login":{"user":"ann","code":"two words"}}`, []string{"/login/code"},
			`{"login":{"code":"•••••• (9 characters hidden)","user":"ann"}}`, 9,
		},
		{`{"login":{"user":"ann","n":1}}`, []string{"/login"}, `{"login":"•••••• (20 characters hidden)"}`, 20},
		{`{"all":["a",["b","c"]]}`, []string{"/all/1/0"}, `{"all":["a",["•••••• (1 character hidden)","c"]]}`, 1},
		{`{"a/b~c":true}`, []string{"/a~1b~0c"}, `{"a/b~c":"•••••• (4 characters hidden)"}`, 4},
		{`{"a":"","b":null,"c":"shown"}`, []string{"/a", "/b", "/d"}, `{"a":"","b":null,"c":"shown"}`, 0},
		{
			`{"password":"hunter2","pin":"12"}`, []string{"/pin"},
			`{"password":"•••••• (7 characters hidden)","pin":"•••••• (2 characters hidden)"}`, 9,
		},
	} {
		call := core.Call{Arguments: json.RawMessage(c.args), Secret: c.secret}
		if got := string(call.Masked()); got != c.want || call.Hidden() != c.hidden {
			t.Errorf("%s\n got %s, %d hidden\nwant %s, %d hidden", c.args, got, call.Hidden(), c.want, c.hidden)
		}
	}
}

func TestLaw8_ATextAboutACallDoesNotShowItsSecrets(t *testing.T) {
	call := core.Call{
		Arguments: json.RawMessage(
			`{"pin":4711,"code":"sword \"fish\"","login":{"user":"cleopatra","n":[12345]},"short":"abc",` +
				`"token":"delete it all","password":"hunter2"}`),
		Secret: []string{"/pin", "/code", "/login", "/short"},
	}
	text := `Set 4711, sword "fish", "sword \"fish\"", cleopatra, 12345 and hunter2 for abc, and delete it all with ` +
		"ghp_" + strings.Repeat("aB3", 12) + `.`
	want := `Set ••••••, ••••••, "••••••", ••••••, •••••• and •••••• for abc, and delete it all with •••••• (40 ` +
		`characters hidden).`
	if got := call.Mask(text); got != want || call.Mask(got) != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := (core.Call{}).Mask("milk"); got != "milk" {
		t.Errorf("of erased arguments: %s", got)
	}
}
