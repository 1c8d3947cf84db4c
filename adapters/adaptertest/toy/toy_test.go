package toy_test

import (
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/adaptertest/toy"
	"gatehouse/core"
)

func TestToyIsAPlatform(t *testing.T) {
	adaptertest.Run(t, adaptertest.Harness{Open: func(t *testing.T) (core.Platform, adaptertest.Fake) {
		token := t.Name()
		c := toy.Config{Token: token}
		p, err := c.Open(core.Deps{Signer: adaptertest.Signer(t, "a key of the toy")})
		if err != nil {
			t.Fatal(err)
		}
		return p, toy.Enter(token)
	}})
}
