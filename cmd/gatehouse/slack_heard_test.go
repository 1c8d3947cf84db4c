package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
)

// listeningModel tells the test what it is asked, and answers "ok".
type listeningModel struct{ asked chan core.Message }

func (m listeningModel) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err != nil {
		return agent.Answer{}, err
	}
	select {
	case m.asked <- tail[0]:
	case <-ctx.Done():
		return agent.Answer{}, context.Cause(ctx)
	}
	ok := core.Message{Role: core.Assistant, Content: core.Text("ok")}
	return agent.Answer{Message: ok, Finish: llm.FinishStop}, nil
}

// shown is all that a model is shown of a message.
func shown(m core.Message) string {
	var all []string
	for _, b := range m.Content.Blocks() {
		if b.Type == core.ImageBlock {
			b.Text = "(an image, " + b.MediaType + ")"
		}
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

// TestSlackIsHeardWhole sends the messages of the field, signed, and looks at what the model is asked.
func TestSlackIsHeardWhole(t *testing.T) {
	t.Parallel()
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no message from the field was sent. Set GATEHOUSE_FIXTURES to the folder that holds field.")
	}
	model := listeningModel{asked: make(chan core.Message)}
	s := serveSlackWith(t, slacktest.Options{}, transports["HTTP"], model)
	both := []string{"U1ANN", s.slack.BotUserID()}
	s.slack.AddChannel(slacktest.Channel{ID: "DUVH3NH0001", Kind: slacktest.DM, Members: both})
	s.slack.AddChannel(slacktest.Channel{ID: "C2", Name: "billing", Members: []string{"U2BOB"}})
	s.slack.AddChannel(slacktest.Channel{ID: "C3", Name: "secret", Kind: slacktest.Private, Members: []string{"U2BOB"}})
	s.slack.AddGroup(slacktest.Group{ID: "S0OPS", Handle: "ops", Members: []string{"U2BOB"}})
	head := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR a picture's head")
	picture := s.slack.AddFile(slacktest.File{ID: "F9", Name: "shot.png", Content: head})
	s.slack.AddFile(slacktest.File{ID: "F10", Name: "notes.txt", Content: []byte("buy milk\n")})
	const bob = `"name":"Bob Example","id":"slack:U2BOB","at":"2025-11-24T16:00:00Z"} wrote:` + "\n> "
	const ann = `{"name":"ann","id":"slack:U1ANN"} says:`
	for name, want := range map[string][]string{
		"S01": {`{"quoted":"forwarded message",` + bob + "The invoice 4711 is wrong, please check the sum\n" + ann},
		"S03": {
			`{"quoted":"forwarded message",` + bob + "screenshot of the failure\n> [attached files: shot.png]\n" + ann,
			"(an image, image/png)", "> look at this",
		},
		"S04": {
			`{"quoted":"linked message",` + bob + "Quarter figures are in\n" + ann,
			"> see https://gate.slack.com/archives/C2/p1764000000000100",
		},
		"S05": {ann, "> which of these is cheaper?\n> Item | Price\n> apples | 3.10"},
		"S08": {
			`{"quoted":"file","file":"notes.txt","name":"ann","id":"slack:U1ANN","end":"`,
			" contains:\nbuy milk\n", ann,
			"> what is in here?",
		},
		"S10": {
			"[a recording of mine, as the platform wrote it down:]\nplease restart the billing job",
		},
		"S12": {
			ann, "> tell #billing and #C3 (a private channel that the bot can't see) and @ops and @bob, also Feb 18 ",
			":wave::skin-tone-4:",
		},
	} {
		text, err := os.ReadFile(filepath.Join(root, "field", "slack", name+".json"))
		noErr(t, err)
		var event map[string]any
		const at = "https://files.slack.com/files-pri/T0GATE-F9/"
		own := strings.NewReplacer(at+"download/shot.png", picture, at+"shot.png", picture)
		if err := json.Unmarshal([]byte(own.Replace(string(text))), &event); err != nil {
			t.Fatal(name, err)
		}
		if err := s.slack.Send(event).Wait(s.ctx()); err != nil {
			t.Fatal(name, err)
		}
		select {
		case m := <-model.asked:
			rest := shown(m)
			for _, part := range want {
				_, after, found := strings.Cut(rest, part)
				if rest = after; !found {
					t.Errorf("%s: %q does not follow in\n%s", name, part, shown(m))
				}
			}
		case <-s.ctx().Done():
			t.Fatalf("%s: the model was not asked:\n%s", name, s.log)
		}
	}
}

// TestSlackAPreviewThatComesLater is heard where its turn has not begun, and begins none.
func TestSlackAPreviewThatComesLater(t *testing.T) {
	t.Parallel()
	model := listeningModel{asked: make(chan core.Message)}
	s := serveSlackWith(t, slacktest.Options{}, transports["HTTP"], model)
	bobs := s.bob.Posts("C1", "Quarter figures are in")
	preview := slacktest.WithAttachments(s.slack.Forward("C1", bobs.TS, false))
	first := s.ann.Posts("C1", s.slack.MentionOfBot()+" one")
	second := s.ann.Posts("C1", "two", slacktest.InThread(first.TS))
	third := s.ann.Posts("C1", "three", slacktest.InThread(first.TS))
	waitUntil(t, func() bool { return s.slack.WaitDelivered(s.ctx()) == nil }, "all are stored")
	s.slack.Unfurl("C1", second.TS, "", preview) // the first holds the thread
	noErr(t, s.slack.WaitDelivered(s.ctx()))
	hears := func(own string, quoted bool) {
		t.Helper()
		select {
		case m := <-model.asked:
			if text := shown(m); m.Content.Own() != own ||
				strings.Contains(text, "> Quarter figures are in") != quoted {
				t.Errorf("the model is asked\n%s", text)
			}
		case <-s.ctx().Done():
			t.Fatalf("the model was not asked:\n%s", s.log)
		}
	}
	hears("one", false)
	hears("two", true)
	hears("three", false)
	s.slack.Unfurl("C1", third.TS, "", preview)
	s.ann.Posts("C1", "four", slacktest.InThread(first.TS))
	hears("four", false)
}
