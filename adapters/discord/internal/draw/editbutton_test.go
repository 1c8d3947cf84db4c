package draw

import (
	"slices"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

// TestEditIsOfferedWhereAllArgumentsAreOnTheCard and may be changed. A row takes five buttons.
func TestEditIsOfferedWhereAllArgumentsAreOnTheCard(t *testing.T) {
	long := "{\n  \"text\": \"" + strings.Repeat("x", maxArguments+100) + "\"\n}"
	for name, c := range map[string]struct {
		change func(*core.Card)
		want   []string
	}{
		"editable": {func(c *core.Card) {
			c.Editable = true
		}, []string{"Approve", "Deny", "Edit", "Withdraw (Ann)", "Open the conversation"}},
		"not editable": {nil, []string{"Approve", "Deny", "Withdraw (Ann)", "Open the conversation"}},
		"cut": {func(c *core.Card) {
			c.Editable, c.Arguments = true, long
		}, []string{"Approve", "Deny", "Show all arguments", "Withdraw (Ann)", "Open the conversation"}},
		"decided": {func(c *core.Card) { c.Editable, c.State = true, core.Denied }, []string{"Open the conversation"}},
	} {
		all := drawAll(t, core.Delivery{Post: core.Post{Kind: core.PostCard, Copy: true}, Card: testCard(c.change)})
		var got []string
		for _, part := range all[0].Card.Components {
			if row, ok := part.(discordgo.ActionsRow); ok {
				for _, b := range row.Components {
					got = append(got, b.(discordgo.Button).Label)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the buttons are %q, want %q", name, got, c.want)
		}
	}
}
