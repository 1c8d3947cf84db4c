package openharness_test

import (
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/core"
)

func TestContract(t *testing.T) {
	adaptertest.Run(t, adaptertest.Harness{Open: func(t *testing.T) (core.Platform, adaptertest.Fake) {
		s := serve(t)
		return s, s
	}})
}
