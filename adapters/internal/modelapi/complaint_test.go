package modelapi_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/internal/modelapi"
	"gatehouse/core"
)

// TestNoPartOfTheKeyIsPassedOn: a long sentence is cut after the key is taken out, so that no beginning of the key is
// left at its end.
func TestNoPartOfTheKeyIsPassedOn(t *testing.T) {
	e, err := modelapi.New("m", modelapi.Config{Key: key, Default: "https://example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for before := 470; before < 510; before++ {
		a := modelapi.Answer{
			Status: 400,
			Body:   []byte(`{"error":{"message":"` + strings.Repeat("x", before) + key + `","type":"` + key + `"}}`),
		}
		refused := e.Refused(e.Complaint(a))
		if text := refused.Error() + core.MessageOf(refused); strings.Contains(text, key[:6]) {
			t.Errorf("after %d characters a part of the key is left: %s", before, text)
		}
	}
}
