package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
)

// uploads sends a file, and returns it as an attachment of a request.
func (s *shell) uploads(name, content string) map[string]any {
	s.t.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	file, err := w.CreateFormFile("file", name)
	if err == nil {
		_, err = io.WriteString(file, content)
	}
	if err == nil {
		err = w.Close()
	}
	noErr(s.t, err)
	q, err := http.NewRequest(http.MethodPost, s.at+"/v1/openharness/attachments", &form)
	noErr(s.t, err)
	q.Header = http.Header{"Content-Type": {w.FormDataContentType()}, "Authorization": {"Bearer " + s.token}}
	answer, err := s.client.Do(q)
	noErr(s.t, err)
	defer answer.Body.Close()
	var asset map[string]any
	err = json.NewDecoder(answer.Body).Decode(&asset)
	if err != nil || answer.StatusCode != http.StatusOK || asset["asset_id"] == "" {
		s.t.Fatalf("uploading %s: %d %v (%v)", name, answer.StatusCode, asset, err)
	}
	return asset
}

// attached adds attachments to a request.
func attached(m map[string]any, all ...map[string]any) map[string]any {
	m["request"].(map[string]any)["context"].(map[string]any)["attachments"] = all
	return m
}

const pngBytes = "\x89PNG\x0d\x0a\x1a\x0a and a cat"

// TestAModelSeesWhatAShellUploads, by every vendor's API.
func TestAModelSeesWhatAShellUploads(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		env := []string{"GATEHOUSE_AGENT=llm"}
		for key, value := range v.env {
			env = append(env, key+"="+value)
		}
		v.Then(v.say("A cat, and milk."))
		p := newEngine(t, sqliteFile, []string{"ann=" + annsToken}, env...)
		ann := newShell(t, p.at, annsToken)
		cat, notes := ann.uploads("cat.png", pngBytes), ann.uploads("notes.md", "# Buy\n\nmilk")
		got := ann.must(ann.send(attached(request("r1", "s1", "what is this?"), cat, notes)))
		says(t, got, "A cat, and milk.")
		asked := v.lastBody()
		image := base64.StdEncoding.EncodeToString([]byte(pngBytes))
		for _, want := range []string{image, `# Buy\n\nmilk`, "notes.md", "> what is this?"} {
			if !strings.Contains(asked, want) {
				t.Errorf("the model is not shown %q: %s", want, asked)
			}
		}
	})
}

// TestAnUploadOutlivesItsProcess: each process of the database knows it, nobody but its uploader can name it, and it
// goes with the conversation that it was said in.
func TestAnUploadOutlivesItsProcess(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		p := newEngine(t, e, []string{"ann=" + annsToken, "bob=" + bobsToken}, "GATEHOUSE_AGENT=echo")
		ann, bob := newShell(t, p.at, annsToken), newShell(t, p.at, bobsToken)
		cat, notes := ann.uploads("cat.png", pngBytes), ann.uploads("notes.txt", "buy milk")
		p.app.kill()
		p.open()
		foreign := bob.send(attached(request("b1", "s1", "look"), cat))
		bob.refused(foreign, http.StatusUnprocessableEntity, "attachment_not_found")
		first := ann.must(ann.send(attached(request("a1", "s1", "look"), cat, notes)))
		again := ann.must(ann.send(attached(request("a1", "s1", "look"), cat, notes)))
		if strings.Join(first.texts(), "\n") != strings.Join(again.texts(), "\n") || p.messagesOf("ann", "s1") != 1 {
			t.Errorf("the repeated request was answered with %s, the first with %s", again.Raw, first.Raw)
		}
		p.app.kill()
		session := core.ConversationID("openharness:oh/ann/s1").Session(1)
		rec, err := p.store.LoadSession(t.Context(), session, core.Writer{})
		noErr(t, err)
		msgs, err := rec.Messages.From(t.Context(), 0)
		if err != nil || len(msgs) != 2 || len(msgs[0].StoredImages()) != 1 || msgs[0].Content.Own() != "look" {
			t.Fatalf("the messages are %+v (%v)", msgs, err)
		}
		noErr(t, p.store.DeleteSession(t.Context(), session))
		for _, data := range []string{pngBytes, "buy milk"} {
			if _, err := p.store.LoadBlob(t.Context(),
				core.Digest([]byte(data))); core.CategoryOf(err) != core.NotFound {
				t.Errorf("after the conversation was deleted, %.20q: %v", data, err)
			}
		}
	})
}

// TestOpenHarnessReadmeDoesWhatItSays runs its example.
func TestOpenHarnessReadmeDoesWhatItSays(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(readFile("../../adapters/openharness/README.md"), "```sh\n")
	example, _, _ := strings.Cut(rest, "```")
	p := newServeProcess(t, sqliteFile, "GATEHOUSE_AGENT=echo")
	p.open()
	dir := t.TempDir()
	noErr(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("Ann was there."), 0o600))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(example, "http://127.0.0.1:8080", p.at))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), `"status":"success"`) {
		t.Errorf("%v: %s", err, out)
	}
	events := p.events(core.EventFilter{})
	if len(events) != 1 || events[0].Fetched == nil ||
		!strings.Contains(events[0].Fetched.Content.String(), "Ann was there.") {
		t.Errorf("the events are %+v", events)
	}
}

// TestLaw1_UploadsSurviveAKillAtEachStep: the process is killed where a request's upload is kept for it, before the
// request is stored and when its turn begins. It is answered once, with the upload.
func TestLaw1_UploadsSurviveAKillAtEachStep(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		for at, nth := range map[string]int{
			"KeepBlob.before/1": 1, "KeepBlob.after/1": 1, "KeepBlob.before/2": 2, "KeepBlob.after/2": 2,
			"KeepFetched.after": 1,
		} {
			t.Run(at, func(t *testing.T) {
				t.Parallel()
				p := newEngine(t, e, []string{"ann=" + annsToken}, "GATEHOUSE_AGENT=echo")
				ann := newShell(t, p.at, annsToken)
				cat := ann.uploads("cat.png", pngBytes)
				p.app.kill()
				point, _, _ := strings.Cut(at, "/")
				p.open(armed(point, nth, "")...)
				first := p.app
				got := p.outcome(ann, p.ask(ann, attached(request("r1", "s1", "look"), cat)))
				if texts := got.texts(); len(texts) != 1 || p.messagesOf("ann", "s1") != 1 {
					t.Errorf("it was answered with %q", texts)
				}
				if p.app == first {
					t.Error("the process was not killed")
				}
				events := p.events(core.EventFilter{})
				if len(events) != 1 || events[0].Fetched == nil || len(events[0].Fetched.StoredImages()) != 1 {
					t.Errorf("the events are %+v", events)
				}
			})
		}
	})
}
