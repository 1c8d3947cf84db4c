package draw

import (
	"slices"
	"strings"
	"testing"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// TestEditIsOfferedWhereAllArgumentsAreOnTheCard and may be changed.
func TestEditIsOfferedWhereAllArgumentsAreOnTheCard(t *testing.T) {
	long := "{\n  \"text\": \"" + strings.Repeat("x", maxArguments+100) + "\"\n}"
	for name, c := range map[string]struct {
		change func(*core.Card)
		want   []string
	}{
		"editable":     {func(c *core.Card) { c.Editable = true }, []string{"approve", "reason", "edit", "withdraw"}},
		"not editable": {nil, []string{"approve", "reason", "withdraw"}},
		"cut": {func(c *core.Card) {
			c.Editable, c.Arguments = true, long
		}, []string{"approve", "reason", "arguments", "withdraw"}},
		"decided": {func(c *core.Card) { c.Editable, c.State = true, core.Denied }, nil},
	} {
		all := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostCard}, Card: testCard(c.change)})
		var got []string
		for _, b := range all[0].Blocks {
			if row, ok := b.(*api.ActionBlock); ok {
				for _, e := range row.Elements.ElementSet {
					got = append(got, e.(*api.ButtonBlockElement).ActionID)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the buttons are %q, want %q", name, got, c.want)
		}
	}
}
