package slacktest_test

import (
	"bytes"
	"strings"
	"testing"

	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack/slacktest"
)

func TestAPrivateFileNeedsTheBotToken(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	posted := w.alice.Posts("C1", "look", slacktest.WithFiles(
		slacktest.File{Name: "cat.png", Content: []byte("png")},
		slacktest.File{Name: "away.png", Content: []byte("png"), RedirectTo: w.ForeignURL() + "/away"},
		slacktest.File{Name: "wrong.png", URL: w.ForeignURL() + "/wrong"},
	))
	event := w.delivered(t, posted.Deliveries...)[0]
	if event.SubType != "file_share" || len(event.Message.Files) != 3 ||
		event.Message.Files[0].Mimetype != "image/png" {
		t.Fatalf("%+v", event.Message)
	}
	files := event.Message.Files
	var got bytes.Buffer
	if err := w.api.GetFile(files[0].URLPrivate, &got); err != nil || got.String() != "png" {
		t.Errorf("%v %q", err, got.String())
	}
	stranger := slackgo.New("xoxb-other", slackgo.OptionAPIURL(w.APIURL()), slackgo.OptionHTTPClient(newClient(t)))
	if err := stranger.GetFile(files[0].URLPrivate, &got); err == nil || !strings.Contains(err.Error(), "sign-in") {
		t.Errorf("got %v", err)
	}
	_ = w.api.GetFile(files[1].URLPrivate, &got)
	if err := w.api.GetFile(files[2].URLPrivate, &got); err == nil {
		t.Error("slack-go should not ask the wrong host")
	}
	if seen := w.ForeignRequests(); len(seen) != 1 || seen[0].Path != "/away" || seen[0].Authorization != "" {
		t.Errorf("%+v", seen)
	}
}

// TestAStubSaysNothingBeforeItIsLookedUp: as a file over Slack Connect.
func TestAStubSaysNothingBeforeItIsLookedUp(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	notes := slacktest.File{Name: "notes.txt", Content: []byte("buy milk"), Stub: true}
	posted := w.alice.Posts("C1", "look", slacktest.WithFiles(notes))
	stub := w.delivered(t, posted.Deliveries...)[0].Message.Files[0]
	if stub.ID == "" || stub.Name+stub.URLPrivate != "" || stub.FileAccess != "check_file_info" {
		t.Errorf("%+v", stub)
	}
	var got bytes.Buffer
	file, _, _, err := w.api.GetFileInfo(stub.ID, 0, 0)
	if err != nil || file.Name != "notes.txt" {
		t.Fatalf("%+v %v", file, err)
	}
	if err := w.api.GetFile(file.URLPrivate, &got); err != nil || got.String() != "buy milk" {
		t.Errorf("%v %q", err, got.String())
	}
	w.WithdrawScope("files:read")
	if _, _, _, err := w.api.GetFileInfo(stub.ID, 0, 0); err == nil || err.Error() != "missing_scope" {
		t.Errorf("got %v", err)
	}
}

// TestAForwardHoldsTheMessage: with its author and files, whatever the text of the message that forwards it.
func TestAForwardHoldsTheMessage(t *testing.T) {
	w := newWorkspace(t, slacktest.Options{})
	picture := slacktest.WithFiles(slacktest.File{Name: "a.png", Content: []byte("png")})
	first := w.bob.Posts("C1", "the invoice is wrong", picture)
	posted := w.alice.Posts("C1", "", slacktest.WithAttachments(w.Forward("C1", first.TS, true)))
	m := w.delivered(t, posted.Deliveries...)[0].Message
	if len(m.Attachments) != 1 || m.Text != "" {
		t.Fatalf("%+v", m)
	}
	a := m.Attachments[0]
	if a.AuthorID != w.bob.ID || a.Text != "the invoice is wrong" || string(a.Ts) != first.TS || len(a.Files) != 1 {
		t.Errorf("%+v", a)
	}
}
