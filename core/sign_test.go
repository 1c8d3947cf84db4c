package core_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"gatehouse/core"
)

func TestOpenReturnsTheSealedFields(t *testing.T) {
	old, err := core.NewSigner("the key of last year")
	if err != nil {
		t.Fatal(err)
	}
	rotated, err := core.NewSigner("the key of this year", "the key of last year")
	if err != nil {
		t.Fatal(err)
	}
	for _, fields := range [][]string{{"a"}, {""}, {"a", "", "b"}, {"~", "%", "%7E~%25", "ü ~"}} {
		for _, by := range []*core.Signer{old, rotated} {
			if got, ok := rotated.Open(by.Seal(fields...)); !ok || !slices.Equal(got, fields) {
				t.Errorf("%q came back as %q, %v", fields, got, ok)
			}
		}
		if _, ok := old.Open(rotated.Seal(fields...)); ok {
			t.Errorf("%q was opened without its key", fields)
		}
	}
	value := old.Seal(uuid.NewString(), "approve")
	if len(value) > 100 {
		t.Errorf("%d bytes are too long for a button: %s", len(value), value)
	}
	for i := range value {
		changed := value[:i] + string(value[i]^1) + value[i+1:]
		if _, ok := old.Open(changed); ok {
			t.Fatalf("%q was opened", changed)
		}
	}
	for _, foreign := range []string{
		"", "~", "x~approve", value[:len(value)-1], value + "x", strings.TrimLeft(value, value[:1]),
	} {
		if _, ok := old.Open(foreign); ok {
			t.Errorf("%q was opened", foreign)
		}
	}
}

func TestKeysThatCanBeGuessedAreRefused(t *testing.T) {
	for _, keys := range [][]string{nil, {""}, {"short"}, {"the key of this year", "short"}} {
		if _, err := core.NewSigner(keys...); core.CategoryOf(err) != core.Invalid ||
			strings.Contains(err.Error(), "short") {
			t.Errorf("%q: %v", keys, err)
		}
	}
}
