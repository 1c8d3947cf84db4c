package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/prompt"
	"gatehouse/core/llm/view"
	"gatehouse/core/tool"
)

// ProviderModel is a Model that asks a provider (llm-provider). It shows the provider a view of the conversation
// (core/llm/view) and the tools of the registry as they are now.
type ProviderModel struct {
	Provider llm.Provider
	Tools    *tool.Registry
	TextOnly bool // the model takes no images
	Budget   int  // of a request, in tokens as the view estimates them; 0 = no limit

	// System is the system prompt. It is rendered for the platform of a turn and the day on which its epoch began; its
	// first message is the text, and the calls sample as it says. nil: there is none.
	System *prompt.Prompt
	Zone   *time.Location // in which days begin; nil: UTC
	Images Images         // nil: no image is stored
	Tokens Tokens         // nil: they are not counted
	Daily  int64          // how many tokens a person may take a day; 0 = no limit
	// LeftOut hears at each call how many tools the model is not told of, because they are too many; nil: nobody does.
	LeftOut func(tools int)
}

// Images has the images of conversations.
type Images interface {
	// LoadBlob returns the bytes of a stored image. Error: not_found if they are not stored any more.
	LoadBlob(ctx context.Context, digest string) ([]byte, error)
}

// Tokens counts what people take of a model.
type Tokens interface {
	// AddTokens adds the tokens of a call to those that a person took today, and returns the sum; with 0 it only
	// returns it. Where the vendor does not say how many, it is what was sent, as the view estimates it.
	AddTokens(ctx context.Context, person string, tokens int64) (today int64, err error)
}

// Next asks the provider once, and up to twice again with less of the conversation, if that is too long for it. Errors:
// those of llm.Provider, of the view, and rate_limited if the person has taken their tokens of the day.
func (m ProviderModel) Next(ctx context.Context, history core.History, _ json.RawMessage) (Answer, error) {
	turn, _ := core.TurnFrom(ctx)
	if err := m.admit(ctx, turn.Actor.ID); err != nil {
		return Answer{}, err
	}
	tools, inTools := m.offered()
	return fitting(m.Budget, func(budget int) (Answer, int, error) {
		m.Budget = budget
		shown, err := m.show(ctx, turn, history, tools, inTools)
		if err != nil {
			return Answer{}, 0, err
		}
		speech := spoken{to: core.DeltasFrom(ctx)}
		request := llm.Request{
			Messages: shown.Messages, Tools: tools, Last: shown.epoch.Origin, Estimate: shown.Tokens + inTools,
			OnToken: func(t llm.Token) { speech.hear(t) },
		}
		inside := ctx
		if p := shown.prompt; p != nil {
			if inside = prompt.Active(ctx, *p); p.Sampling != nil {
				request.Config = *p.Sampling
			}
		}
		answer, err := m.ask(inside, turn.Actor.ID, request)
		answer.Epoch = shown.answered(answer.by)
		return answer, request.Estimate, err
	})
}

// mostCuts is how often a conversation that was too long is shown again, each time at most half of it.
const mostCuts = 2

// fitting asks until a conversation is not too long for the model. ask shows as much of it as a budget allows, and says
// how much that was.
func fitting(budget int, ask func(budget int) (a Answer, estimate int, err error)) (Answer, error) {
	for cuts := 0; ; cuts++ {
		answer, estimate, err := ask(budget)
		shorter, tooLong := llm.Shorter(estimate, err)
		if !tooLong || estimate == 0 || cuts == mostCuts {
			return answer, err
		}
		budget = shorter
	}
}

// ask asks the provider for a person, and counts the tokens.
func (m ProviderModel) ask(ctx context.Context, person string, request llm.Request) (Answer, error) {
	turn, _ := core.TurnFrom(ctx)
	request.Cache = cacheOf(turn.Conversation)
	response, err := m.Provider.Complete(ctx, request)
	if err != nil && core.CategoryOf(err) != core.ProviderInvalidResponse {
		return Answer{}, err
	}
	// at least what was sent, where the answer does not say or can't be read
	tokens := cmp.Or(taken(response.Usage), int64(request.Estimate))
	if m.Tokens != nil {
		if _, err := m.Tokens.AddTokens(context.WithoutCancel(ctx), person, tokens); err != nil {
			return Answer{}, fmt.Errorf("counting the tokens of %s: %w", person, err)
		}
	}
	return Answer{
		Message: response.Message, Finish: response.Finish, Tokens: tokens, Typed: response.Typed, by: response.By,
	}, err // of an answer that can't be used
}

// cacheOf names a conversation to a vendor that keeps what its requests begin with. The name says nothing of the
// platform and its people.
func cacheOf(c core.ConversationID) string {
	if c == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(c))
	return hex.EncodeToString(sum[:16])
}

// maxTools is how many tools a request may have: OpenAI's API admits no more.
const maxTools = 128

// offered are the tools that the model is told of, in their order, and the tokens that they are estimated to take.
// Those that would take more than half of the budget, or are too many, are left out: servers can define any number of
// them.
func (m ProviderModel) offered() (all []llm.Tool, tokens int) {
	known := m.Tools.Tools()
	for _, t := range known {
		n := (len(t.Name) + len(t.Description) + len(t.Schema)) / 3
		if len(all) == maxTools || m.Budget > 0 && tokens+n > m.Budget/2 {
			continue
		}
		tokens += n
		all = append(all, llm.Tool{Name: t.Name, Description: t.Description, Parameters: llm.PortableSchema(t.Schema)})
	}
	if m.LeftOut != nil {
		m.LeftOut(len(known) - len(all))
	}
	return all, tokens
}

// admit refuses a person who has taken their tokens of the day.
func (m ProviderModel) admit(ctx context.Context, person string) error {
	if m.Tokens == nil || m.Daily <= 0 {
		return nil
	}
	today, err := m.Tokens.AddTokens(ctx, person, 0)
	if err != nil {
		return fmt.Errorf("reading the tokens of %s: %w", person, err)
	}
	if today >= m.Daily {
		return core.Errorf(core.RateLimited,
			"You have used your %d tokens of today. The count begins anew at midnight UTC; an admin can raise the "+
				"limit.", m.Daily)
	}
	return nil
}

// taken is how many tokens a call took, as far as the vendor says so.
func taken(u llm.Usage) (n int64) {
	if u.Total != nil {
		return *u.Total
	}
	for _, part := range []*int64{u.Prompt, u.Completion} {
		if part != nil {
			n += *part
		}
	}
	return n
}

// shown is what the provider is shown beside the tools, which take some of the budget: the system prompt, and the
// conversation with its images. A cut is deep, so that it is not made again soon.
func (m ProviderModel) shown(ctx context.Context, o view.Options, history core.History, tools int) (view.View, error) {
	o.TextOnly = m.TextOnly
	if m.Budget > 0 {
		o.Budget = max(1, m.Budget-tools)
		o.Fill = o.Budget / 2
	}
	shown, err := view.OfHistory(ctx, history, o)
	if err != nil {
		return view.View{}, err
	}
	for i, message := range shown.Messages {
		if shown.Messages[i], err = message.WithImages(ctx, m.image); errors.Is(err, errNoImage) {
			shown.Messages[i], err = withoutImages(message), nil
		}
		if err != nil {
			return view.View{}, fmt.Errorf("loading an image of the conversation: %w", err)
		}
	}
	return shown, nil
}

var errNoImage = errors.New("the image is not stored any more")

func (m ProviderModel) image(ctx context.Context, digest string) ([]byte, error) {
	if m.Images == nil {
		return nil, errNoImage
	}
	data, err := m.Images.LoadBlob(ctx, digest)
	if core.CategoryOf(err) == core.NotFound {
		return nil, errNoImage
	}
	return data, err
}

// withoutImages says in a message that its stored images are gone.
func withoutImages(m core.Message) core.Message {
	blocks := m.Content.Blocks()
	for i, b := range blocks {
		if b.Source != nil && b.Source.Type == core.SourceStored {
			blocks[i] = core.Block{
				Type: core.TextBlock, Text: "[There was an image here, which is not stored any more.]",
			}
		}
	}
	m.Content = core.Blocks(blocks...)
	return m
}
