package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

// declared are the categories of category.go, as it declares them.
func declared(t *testing.T) (all []core.Category) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "category.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Category" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, core.Category(text))
		return true
	})
	return all
}

// TestLaw8_EveryCategoryHasItsWords: nobody adds a category without deciding what people read of it. What others may
// have written is shown for none of the categories that they raise.
func TestLaw8_EveryCategoryHasItsWords(t *testing.T) {
	known := map[core.Category]bool{}
	for _, c := range core.Categories() {
		known[c] = true
	}
	all := declared(t)
	if len(all) < 79 {
		t.Errorf("only %d categories were found", len(all))
	}
	const theirs = "api.vendor.example says sk-proj-abc"
	for _, c := range all {
		if c == core.NoDeclaredEntry || c == core.UnreachableNode || c == core.DanglingEdge ||
			c == core.MultipleOutgoingEdges ||
			c == core.ConflictingReducers || c == core.MappingUndeclaredField || c == core.ConflictingProjectionForms ||
			c == core.ReducerConfigurationInvalid {
			continue // of a graph that does not compile: gatehouse does not start
		}
		if !known[c] {
			t.Errorf("%s has no bucket", c)
		}
		said := core.Sentence(c)
		if said == "" && core.BucketOf(c) == core.UserCorrectable {
			t.Errorf("%s has no sentence", c)
		}
		outside := strings.HasPrefix(string(c), "provider_") || strings.HasPrefix(string(c), "delivery_") ||
			strings.HasPrefix(string(c), "prompt_") ||
			strings.HasPrefix(string(c), "store_") || c == core.StructuredOutputInvalid || c == core.ToolFailed ||
			c == core.Unauthorized || c == core.Internal
		if of := core.Sentences(nil).Of(core.Errorf(c, theirs)); outside && strings.Contains(of, theirs) {
			t.Errorf("%s shows what others wrote: %s", c, of)
		}
	}
}

// TestSentences: a reason is narrower than its category, a replacement stands in place of the built-in sentence, a
// message of ours is shown.
func TestSentences(t *testing.T) {
	carried := core.Wrap(core.NodeException,
		core.Errorf(core.ProviderInvalidRequest, "raw").Because(core.ConversationTooLong), "")
	replaced := core.Sentences{core.ProviderAuthentication: "Kein Schlüssel.", core.RateLimited: "Warte: {message}"}
	for want, of := range map[string]string{
		core.Sentence(core.ConversationTooLong): core.Sentences(nil).Of(carried),
		core.Sentence(core.ProviderInvalidRequest): core.Sentences(nil).Of(
			core.Errorf(core.ProviderInvalidRequest, "raw")),
		"Kein Schlüssel.":       replaced.Of(core.Errorf(core.ProviderAuthentication, "raw")),
		"Warte: 20 are enough.": replaced.Of(core.Errorf(core.RateLimited, "20 are enough.")),
		"It ran 40 rounds.":     replaced.Of(core.Errorf(core.LimitReached, "It ran 40 rounds.")),
	} {
		if of != want {
			t.Errorf("%q, want %q", of, want)
		}
	}
}

// TestWhatHasNothingInItIsInvalid: a tool message needs content and a thinking block a text or a signature
// (harness-chat §3.1). A signature alone is enough: models think in silence.
func TestWhatHasNothingInItIsInvalid(t *testing.T) {
	thinking := func(text, signature string) core.Message {
		block := core.Block{Type: core.ThinkingBlock, Text: text, Signature: signature}
		return core.Message{
			Role: core.Assistant, Content: core.Blocks(block, core.Block{Type: core.TextBlock, Text: "So."}),
		}
	}
	for _, m := range []core.Message{{Role: core.ToolRole, ToolCallID: "c"}, thinking("", "")} {
		if err := m.Validate(); core.CategoryOf(err) != core.ChatMessageShapeInvalid {
			t.Errorf("%+v: %v", m, err)
		}
	}
	for _, m := range []core.Message{
		core.Result("c", ""), core.Result("c", "4"), thinking("Hm.", ""), thinking("", "sig"),
	} {
		if err := m.Validate(); err != nil {
			t.Errorf("%+v: %v", m, err)
		}
	}
}

func TestABusyModelSaysWhenToTryAgain(t *testing.T) {
	for _, c := range []struct {
		err  *core.Error
		want string
	}{
		{
			&core.Error{Category: core.ProviderRateLimit, RetryAfter: 10 * time.Minute},
			"The model is busy. Try again in 10 minutes.",
		},
		{
			&core.Error{Category: core.ProviderUnavailable, RetryAfter: 20 * time.Second},
			"The model is busy. Try again in less than a minute.",
		},
		{&core.Error{Category: core.ProviderUnavailable}, ""},
		{&core.Error{Category: core.DeliveryLater, RetryAfter: 10 * time.Minute}, ""},
	} {
		if got := (core.Sentences)(nil).Of(c.err); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}
