package discord

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Whatever an address or a stored token contains, the ids made from it are safe in a path.
func FuzzAddress(f *testing.F) {
	f.Add("interaction:1", "1/token")
	f.Add("interaction:1", "1/../2?x")
	f.Add("command:1", "2/token")
	f.Add("private:1:2", "2/token\nwhy")
	f.Add("command:1/../2?x", "3")
	f.Fuzz(func(t *testing.T, message, stored string) {
		for _, prefix := range []string{address.PressPrefix, address.CommandPrefix} {
			if id, ok := address.Interaction(core.Address{Message: message}, prefix); ok && !snowflake.Valid(id) {
				t.Errorf("%q gives %q", message, id)
			}
		}
		kv := newTestKV()
		kv.values[tokenName("1")] = stored
		if id, onlyFor, ok := address.Command(core.Address{Message: message}); ok &&
			(!snowflake.Valid(id) || onlyFor != "" && !snowflake.Valid(onlyFor)) {
			t.Errorf("%q gives %q for %q", message, id, onlyFor)
		}
		got, err := (&Discord{Deps: core.Deps{KV: kv}}).token(t.Context(), "1")
		if err != nil && !errors.Is(err, errLate) ||
			err == nil && (!snowflake.Valid(got.app) || strings.ContainsAny(got.token, "/?#%")) {
			t.Errorf("%q gives %+v: %v", stored, got, err)
		}
		if name := draw.Topic(message); name == "" || safetext.Units(name) > 100 || !utf8.ValidString(name) {
			t.Errorf("%q becomes %q", message, name)
		}
	})
}
