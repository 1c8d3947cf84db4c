package view_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
	"gatehouse/core/llm/view"
)

// small talk: n exchanges of two messages, of 100 tokens and a few each.
func talk(n int) []core.Message {
	var all []core.Message
	for i := range n {
		all = append(all, user(fmt.Sprintf("q%d %s", i, strings.Repeat("x", 150))),
			says(fmt.Sprintf("a%d %s", i, strings.Repeat("y", 150))))
	}
	return all
}

// words shows the first word of each message.
func words(msgs []core.Message) string {
	var all []string
	for _, m := range msgs {
		word, _, _ := strings.Cut(m.Content.String(), " ")
		if len(m.ToolCalls) > 0 {
			word = "call"
		}
		if strings.HasPrefix(word, "[") {
			word = "note"
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// leftOut is how many messages a view says that it leaves out.
func leftOut(v view.View) int {
	said := leftOutLine.FindStringSubmatch(v.Messages[0].Content.String())
	if v.Messages[0].Role != core.System || said == nil {
		return 0
	}
	n, _ := strconv.Atoi(said[1])
	return n
}

var leftOutLine = regexp.MustCompile(
	`(?:^|\n\n)(\d+) earlier messages? of this conversation (?:is|are) not shown here\.$`)

func TestTheBudgetLeavesOutWholeExchanges(t *testing.T) {
	late := append(append([]core.Message{user("add it"), calls("c1 add")}, talk(20)...), result("c1", "added"))
	read := append(talk(5), user("read"), calls("c1 read", "c2 read"), result("c1", strings.Repeat("r", 300)),
		result("c2", "done"), says("ok"), user("thanks"))
	image := append(talk(3),
		core.Message{Role: core.User, Content: core.Blocks(core.StoredImage("image/png", core.Digest(nil), 1))},
		says("nice"), user("thanks"))
	for name, c := range map[string]struct {
		history []core.Message
		budget  int
		want    string
		left    int
	}{
		"all fit":                      {append(talk(3), user("now")), 400, "Be q0 a0 q1 a1 q2 a2 now", 0},
		"two fit":                      {append(talk(3), user("now")), 330, "Be q1 a1 q2 a2 now", 2},
		"none fits but the newest":     {append(talk(3), user("now")), 100, "Be now", 6},
		"a call and its results":       {read, 450, "Be q4 a4 read call rrr done ok thanks", 8},
		"a call that does not fit":     {read, 250, "Be thanks", 15},
		"the call of a late result":    {late, 450, "Be add call added q18 a18 q19 a19 note", 36},
		"images count":                 {image, 1000, "Be thanks", 8},
		"images fit":                   {image, 1900, "Be q1 a1 q2 a2  nice thanks", 2},
		"no limit":                     {append(talk(2), user("now")), 0, "Be q0 a0 q1 a1 now", 0},
		"a line costs, too: exact fit": {append(talk(1), user("now")), 130, "Be q0 a0 now", 0},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := view.Of(c.history, view.Options{System: "Be kind.", Budget: c.budget})
			if err != nil {
				t.Fatal(err)
			}
			got := words(v.Messages)
			if i := strings.Index(got, "rrr"); i >= 0 {
				got = strings.Replace(got, strings.Repeat("r", 300), "rrr", 1)
			}
			if got != c.want || leftOut(v) != c.left {
				t.Errorf("%q, %d left out, want %q, %d", got, leftOut(v), c.want, c.left)
			}
			if err := llmtest.Rules(v.Messages); err != nil {
				t.Error(err)
			}
			if c.budget > 0 && v.Tokens > c.budget {
				t.Errorf("%d tokens", v.Tokens)
			}
		})
	}
}

func TestTheNewestExchangeAloneIsTooLong(t *testing.T) {
	long := user(strings.Repeat("x", 3000))
	for name, history := range map[string][]core.Message{
		"a message":     append(talk(3), long),
		"what it needs": {long, calls("c1 add"), user("well?"), says("It waits."), result("c1", "added")},
		"its tools":     {user("read"), calls("c1 read"), result("c1", strings.Repeat("x", 3000))},
		"the first page": append(append([]core.Message{long}, calls("c1 add")),
			append(talk(100), result("c1", "added"))...),
	} {
		_, err := view.Of(history, view.Options{Budget: 500})
		if core.CategoryOf(err) != core.ProviderInvalidRequest ||
			!strings.Contains(core.MessageOf(err), "Please send a shorter message") {
			t.Errorf("%s: %v", name, err)
		}
		if _, other := view.OfHistory(t.Context(), core.History{}.Append(history...),
			view.Options{Budget: 500}); fmt.Sprint(other) != fmt.Sprint(err) {
			t.Errorf("%s: a history says %v, a list %v", name, other, err)
		}
	}
	v, err := view.Of([]core.Message{long, says("ok"), user("shorter")}, view.Options{Budget: 500})
	if err != nil || words(v.Messages) != "2 shorter" {
		t.Errorf("the next message: %q, %v", words(v.Messages), err)
	}
}

// counted is a stored history that counts what is read of it.
func counted(msgs []core.Message) (h core.History, rows *int) {
	rows = new(int)
	return core.NewHistory(len(msgs), func(_ context.Context, skip, n int) ([]core.Message, error) {
		end := max(0, len(msgs)-skip)
		start := max(0, end-n)
		*rows += end - start
		return append([]core.Message(nil), msgs[start:end]...), nil
	}), rows
}

func TestNoMoreIsReadThanNeeded(t *testing.T) {
	msgs := append(talk(50_000), user("now"))
	for _, c := range []struct{ budget, most int }{{200, 64}, {4_000, 128}, {100_000, 2_400}} {
		h, rows := counted(msgs)
		v, err := view.OfHistory(t.Context(), h, view.Options{System: "Be kind.", Budget: c.budget})
		if err != nil {
			t.Fatal(err)
		}
		if *rows > c.most || leftOut(v)+len(v.Messages)-1 != len(msgs) || v.Tokens > c.budget ||
			v.Tokens < c.budget-200 {
			t.Errorf("a budget of %d: %d messages were read, %d are shown, %d left out, %d tokens", c.budget, *rows,
				len(v.Messages), leftOut(v), v.Tokens)
		}
	}
	h, rows := counted(
		append([]core.Message{user("add it"), calls("c1 add")}, append(talk(200), result("c1", "added"))...))
	v, err := view.OfHistory(t.Context(), h.Append(calls("c2 read"), result("c2", "read")), view.Options{Budget: 400})
	if err != nil || *rows > 403 || !strings.HasPrefix(words(v.Messages), "398 add call added q199") ||
		!strings.HasSuffix(words(v.Messages), "note call read") {
		t.Errorf("a late result: %d read, %q, %v", *rows, words(v.Messages), err)
	}
}

func TestAHistoryThatCanNotBeRead(t *testing.T) {
	h := core.NewHistory(9, func(context.Context, int, int) ([]core.Message, error) {
		return nil, core.Errorf(core.StoreBusy, "busy")
	})
	if _, err := view.OfHistory(t.Context(), h, view.Options{}); core.CategoryOf(err) != core.StoreBusy {
		t.Error(err)
	}
}

func TestAHistoryIsShownAsItsMessagesAre(t *testing.T) {
	msgs := append(talk(300), calls("c1 add"), user("now"))
	for _, budget := range []int{0, 1_000, 20_000, 1_000_000} {
		want, err := view.Of(msgs, view.Options{Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		h, _ := counted(msgs[:500])
		got, err := view.OfHistory(t.Context(), h.Append(msgs[500:]...), view.Options{Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines(want.Messages), lines(got.Messages)); diff != "" || want.Tokens != got.Tokens {
			t.Errorf("a budget of %d: %s", budget, diff)
		}
	}
}
