package outbound_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

func TestCacheLifetimes(t *testing.T) {
	now := time.Unix(0, 0)
	c := outbound.Cache[string]{Now: func() time.Time { return now }}
	c.Put("a", "for a while", time.Minute)
	if got, fresh := c.Get("a"); got != "for a while" || !fresh {
		t.Errorf("got %q, %v", got, fresh)
	}
	now = now.Add(time.Minute)
	if got, fresh := c.Get("a"); got != "for a while" || fresh {
		t.Errorf("after its lifetime: got %q, %v", got, fresh)
	}
	c.Put("a", "for ever", outbound.Forever)
	if got := c.Put("a", "a guess", time.Minute); got != "for ever" {
		t.Errorf("a temporary value replaced a permanent one: %q", got)
	}
	if _, fresh := c.Get("b"); fresh {
		t.Error("it returns a value that was never stored")
	}
}

func TestOutboundHealthIsThatOfTheLastAnswer(t *testing.T) {
	o := outbound.Health{Title: "Chat"}
	if o.Err() == nil {
		t.Error("it is healthy before the first call")
	}
	refused := core.Errorf(core.DeliveryFailed, "No.")
	for _, c := range []struct {
		err  error
		want core.Category
	}{
		{nil, ""}, {core.Errorf(core.DeliveryInDoubt, "Lost."), core.DeliveryInDoubt},
		{outbound.Wait(time.Second, nil, "Wait."), core.DeliveryInDoubt}, {refused, ""},
		{core.Errorf(core.Unauthorized, "No."), core.Unauthorized},
		{core.Errorf(core.DeliveryLater, "Unreachable."), core.DeliveryLater}, {nil, ""},
	} {
		if o.Record(c.err); core.CategoryOf(o.Err()) != c.want {
			t.Errorf("after %v: %v, want %q", c.err, o.Err(), c.want)
		}
	}
}

func TestALongPostIsDrawnOnce(t *testing.T) {
	var c outbound.PartCache[string]
	drawn := 0
	for part := range 3 {
		d := core.Delivery{Post: core.Post{Key: "reply/1", Text: "long"}, Part: part}
		parts, err := c.Parts(d, func() ([]string, error) { drawn++; return []string{"a", "b", "c"}, nil })
		if m, more, _ := outbound.At(parts, d); err != nil || m != parts[part] || more != (part < 2) {
			t.Errorf("part %d: got %q, %v, %v", part, m, more, err)
		}
	}
	if drawn != 1 {
		t.Errorf("it was drawn %d times", drawn)
	}
	if _, _, err := outbound.At([]string{"a"}, core.Delivery{Part: 1}); core.CategoryOf(err) != core.DeliveryFailed {
		t.Errorf("a part that is not there gave %v", err)
	}
}

// people are a requester, one who can't be written to, and others who can.
type people struct{}

func (people) User(id string) (string, bool) { return "requester", id == "chat:requester" }

func (people) OpenDM(_ context.Context, user string) (string, error) {
	if user == "closed" {
		return "", core.Errorf(core.DeliveryFailed, "No direct messages.")
	}
	return "dm-" + user, nil
}

func (people) Warn(string, ...any) {}

func TestCopiesGoToThoseWhoDoNotSeeTheCard(t *testing.T) {
	c := outbound.Copies{Platform: "chat", People: people{}}
	d := core.Delivery{
		Post: core.Post{Key: "card/1", Approval: "a1"},
		Card: &core.Card{Requested: core.Actor{ID: "chat:requester"}, Summary: "Add a note"},
	}
	sees := func(_ context.Context, user string) (bool, error) { return user == "here", nil }
	keys := func(users []string, refused bool) (keys []string) {
		copies, err := c.Posts(t.Context(), d, users, sees, refused)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range copies.Posts {
			keys = append(keys, p.Key)
		}
		return keys
	}
	if got := keys([]string{"here", "away", "closed"}, false); !slices.Equal(got, []string{"card/1/chat:away"}) {
		t.Errorf("copies: %v", got)
	}
	if got := keys([]string{"here", "away", "closed"}, true); !slices.Equal(got,
		[]string{"card/1/chat:here", "card/1/chat:away", "card/1/requester"}) {
		t.Errorf("copies of a card that was refused: %v", got)
	}
	many := []string{"here", "closed"}
	for i := range 25 {
		many = append(many, fmt.Sprint(i))
	}
	// five, and who can't be written to
	if got, err := c.Posts(t.Context(), d, many, sees, false); err != nil || len(got.Posts) != 20 || got.LeftOut != 6 {
		t.Errorf("%d copies, %d left out, %v", len(got.Posts), got.LeftOut, err)
	}
	if got, _ := c.Posts(t.Context(), d, many, sees, true); got.LeftOut != 7 ||
		!strings.Contains(got.Posts[20].Text, "20 of 27 approvers have received it") {
		t.Errorf("%d left out, %q", got.LeftOut, got.Posts[20].Text)
	}
	down := errors.New("down")
	if _, err := c.Posts(t.Context(), d, []string{"away"}, func(context.Context, string) (bool, error) {
		return false, down
	}, false); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}
