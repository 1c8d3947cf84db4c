package core_test

import (
	"context"
	"strconv"
	"testing"

	"gatehouse/core"
)

// shelf is a stored list that counts what it gives out.
type shelf struct {
	items []core.Message
	read  int
}

func (s *shelf) Before(_ context.Context, skip, n int) ([]core.Message, error) {
	end := max(0, len(s.items)-skip)
	page := s.items[max(0, end-n):end]
	s.read += len(page)
	return append([]core.Message(nil), page...), nil
}

func said(from, n int) []core.Message {
	var msgs []core.Message
	for i := range n {
		msgs = append(msgs, core.Message{Role: core.User, Content: core.Text(strconv.Itoa(from + i))})
	}
	return msgs
}

func TestHistoryReadsOnlyWhatIsAskedFor(t *testing.T) {
	ctx := context.Background()
	s := &shelf{items: said(0, 1000)}
	h := core.NewHistory(1000, s.Before).Append(said(1000, 3)...)
	if h.Len() != 1003 || h.Stored() != 1000 || len(h.Added()) != 3 {
		t.Fatalf("%d, %d, %d", h.Len(), h.Stored(), len(h.Added()))
	}
	for name, c := range map[string]struct{ skip, n, first, len, read int }{
		"within what was added": {0, 2, 1001, 2, 0},
		"across":                {0, 5, 998, 5, 2},
		"skipping":              {1, 4, 998, 4, 2},
		"within what is stored": {10, 3, 990, 3, 3},
		"the beginning":         {1000, 10, 0, 3, 3},
		"past the beginning":    {2000, 10, 0, 0, 0},
		"nothing":               {0, 0, 0, 0, 0},
	} {
		s.read = 0
		page, err := h.Page(ctx, c.skip, c.n)
		if err != nil || len(page) != c.len || s.read != c.read {
			t.Errorf("%s: %d messages, %d read, %v", name, len(page), s.read, err)
			continue
		}
		if c.len > 0 && page[0].Content.String() != strconv.Itoa(c.first) {
			t.Errorf("%s: begins with %s, want %d", name, page[0].Content, c.first)
		}
	}
	if rest, _ := h.From(ctx, 1001); len(rest) != 2 || rest[0].Content.String() != "1001" {
		t.Errorf("From: %v", rest)
	}
}

func TestHistoryIsPersistent(t *testing.T) {
	base := core.History{}.Append(said(0, 2)...)
	left, right := base.Append(said(10, 1)...), base.Append(said(20, 1)...)
	for name, c := range map[string]struct {
		h    core.History
		last string
		len  int
	}{"base": {base, "1", 2}, "left": {left, "10", 3}, "right": {right, "20", 3}} {
		tail, _ := c.h.Tail(context.Background(), 1)
		if c.h.Len() != c.len || tail[0].Content.String() != c.last {
			t.Errorf("%s: %d, %s", name, c.h.Len(), tail[0].Content)
		}
	}
}

// TestASavedHistoryIsTheSame, with its epoch.
func TestASavedHistoryIsTheSame(t *testing.T) {
	h := core.History{}.Append(core.Message{Role: core.User, Content: core.Text("one")},
		core.Message{Role: core.User, Content: core.Text("two")})
	saved := h.WithEpoch(core.Epoch{Number: 3}).Save(1)
	all, err := saved.From(t.Context(), 0)
	if err != nil || len(all) != 2 || saved.Stored() != 1 || len(saved.Added()) != 1 || saved.Epoch().Number != 3 {
		t.Errorf("%v, %v, %d stored, epoch %d", all, err, saved.Stored(), saved.Epoch().Number)
	}
}
