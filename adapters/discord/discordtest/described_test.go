package discordtest_test

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// What differs from Discord's own description is shown.
func TestDeviationsFromDiscordsDescription(t *testing.T) {
	fake := discordtest.New(discordtest.Options{})
	defer fake.Close()
	fake.AddGuild(discordtest.Guild{ID: "2001", Name: "guild"})
	fake.AddChannel(discordtest.Channel{ID: "3001", Guild: "2001", Name: "general"})
	call := func(path, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fake.APIURL()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bot "+fake.BotToken())
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s gives %d", body, answer.StatusCode)
		}
	}
	call("/channels/3001/messages", `{"content":"as described"}`)
	if found := fake.Deviations(); len(found) != 0 {
		t.Fatalf("it finds %q", found)
	}
	call("/channels/3001/messages", `{"content":"of another form","flags":"4"}`)
	call("/channels/3001/messages?wait=true", `{"content":"with a parameter"}`)
	if found := fake.Deviations(); len(found) != 2 || !strings.Contains(found[0], "flags") ||
		!strings.Contains(found[1], "wait") {
		t.Errorf("it finds %q", found)
	}
}

// TestFilesAreComparedWithDiscordsDescription: a form of several parts is compared as a whole.
func TestFilesAreComparedWithDiscordsDescription(t *testing.T) {
	for name, c := range map[string]struct {
		payload, part string
		want          string // in the deviation; "": there is none
	}{
		"as described": {
			`{"content":"see a.txt","attachments":[{"id":"0","filename":"a.txt"}]}`, "files[0]", "",
		},
		"without attachments": {`{"content":"see a.txt"}`, "files[0]", ""},
		"a wrong payload":     {`{"content":"see a.txt","flags":"4"}`, "files[0]", "flags"},
		"a part of that name": {`{"content":"see a.txt"}`, "upload", "upload"},
		"a part without one": {
			`{"content":"x","attachments":[{"id":"1","filename":"a.txt"}]}`, "files[0]", "files[1]",
		},
		"another name of it":   {`{"content":"x","attachments":[{"id":"0","filename":"b.txt"}]}`, "files[0]", "b.txt"},
		"an id of no kind":     {`{"content":"x","attachments":[{"id":true}]}`, "files[0]", "attachments"},
		"one that it has kept": {`{"content":"x","attachments":[{"id":"900000000000000123"}]}`, "files[0]", ""},
	} {
		fake := discordtest.New(discordtest.Options{})
		fake.AddGuild(discordtest.Guild{ID: "2001", Name: "guild"})
		fake.AddChannel(discordtest.Channel{ID: "3001", Guild: "2001", Name: "general"})
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		err := form.WriteField("payload_json", c.payload)
		if file, failed := form.CreateFormFile(c.part, "a.txt"); failed == nil {
			_, _ = file.Write([]byte("words")) // to memory
		}
		if err = errors.Join(err, form.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fake.APIURL()+"/channels/3001/messages",
			&body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bot "+fake.BotToken())
		r.Header.Set("Content-Type", form.FormDataContentType())
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		found := strings.Join(fake.Deviations(), "\n")
		if (found == "") != (c.want == "") || !strings.Contains(found, c.want) {
			t.Errorf("%s: it finds %q", name, found)
		}
		fake.Close()
	}
}
