package access_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/access"
	"gatehouse/core"
)

func TestTokensAreRead(t *testing.T) {
	tokens, err := access.ParseTokens(" ann=0123456789abcdef,, bob!=bob=bob!bob=bob!bob!,\n x.Y_z-1=~~~~~~~~~~~~~~~~ ,")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, one := range tokens {
		got = append(got, one.ID())
		if one.Approver != (one.Name == "bob") {
			t.Errorf("%s is an approver: %v", one.Name, one.Approver)
		}
	}
	if all := strings.Join(got, " "); all != "openharness:ann openharness:bob openharness:x.Y_z-1" {
		t.Errorf("got %s", all)
	}
	if tokens, err := access.ParseTokens(" "); err != nil || len(tokens) != 0 {
		t.Errorf("an empty list gives %v, %v", tokens, err)
	}
}

// TestFaultsOfTokensShowNoToken: whatever is written in the place of what.
func TestFaultsOfTokensShowNoToken(t *testing.T) {
	const secret = "hunter2hunter2hunter2"
	long := strings.Repeat("n", 65)
	for list, want := range map[string]string{
		secret:                                 "entry 1: it is not of the form name=token",
		"ann=" + secret + "," + secret:         "entry 2: it is not of the form name=token",
		"ann=" + secret + ",bob=hunter2hunter": "entry 2 (bob): the token is too short",
		"bob!=":                                "entry 1 (bob): the token is too short",
		secret + "=ann":                        "entry 1: the token is too short",
		"=" + secret:                           "entry 1: the name can't be used",
		"!=" + secret:                          "entry 1: the name can't be used",
		"bob!!=" + secret:                      "entry 1: the name can't be used",
		".ann=" + secret:                       "entry 1: the name can't be used",
		"an n=" + secret:                       "entry 1: the name can't be used",
		"an:n=" + secret:                       "entry 1: the name can't be used",
		"änn=" + secret:                        "entry 1: the name can't be used",
		long + "=" + secret:                    "entry 1: the name can't be used",
		"local=" + secret: "entry 1 (local): the name is that of the person at gatehouse's own " +
			"machine",
		"LOCAL!=" + secret:                        "entry 1 (LOCAL): the name is that",
		"ann=hunter2 " + secret:                   "entry 1 (ann): the token has a space",
		"ann=hunter2\t" + secret:                  "entry 1 (ann): the token has a space",
		"ann=ü" + secret:                          "entry 1 (ann): the token has a space or another character",
		"ann=" + secret + ",ann!=" + secret + "2": "entry 2 (ann): entry 1 has the same name",
		"ann=" + secret + ",,Ann=" + secret + "2": "entry 3 (Ann): entry 1 has the same name",
		"ann=" + secret + ",bob!=" + secret:       "entry 2 (bob): entry 1 has the same token",
	} {
		tokens, err := access.ParseTokens(list)
		if message := core.MessageOf(err); core.CategoryOf(err) != core.Invalid || tokens != nil ||
			!strings.HasPrefix(message, want) {
			t.Errorf("%q gives %v, %v; want %s", list, tokens, err, want)
		} else if strings.Contains(message, "hunter2") {
			t.Errorf("%q: the error shows a token: %s", list, message)
		}
	}
	_, err := access.ParseTokens("x,ann=" + secret + ",a b=" + secret + ",bob=1")
	if lines := strings.Split(core.MessageOf(err), "\n"); len(lines) != 3 ||
		!strings.HasPrefix(lines[2], "entry 4 (bob)") {
		t.Errorf("got %q", lines)
	}
}
