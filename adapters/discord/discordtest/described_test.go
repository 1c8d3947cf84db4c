package discordtest_test

import (
	"bytes"
	"errors"
	"fmt"
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

// TestLimitsAreThoseOfDiscordsDescription: what is over one of them is accepted, and shown as a deviation.
func TestLimitsAreThoseOfDiscordsDescription(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	button := func(label, id string) fields { return fields{"type": 2, "style": 1, "label": label, "custom_id": id} }
	row := func(all ...any) fields {
		return fields{"content": "x", "components": []any{fields{"type": 1, "components": all}}}
	}
	menu := func(placeholder, option string) fields {
		return row(fields{"type": 3, "custom_id": "m", "placeholder": placeholder, "options": []any{
			fields{"label": option, "value": "1"},
		}})
	}
	modal := func(title string, input fields) fields {
		input["type"], input["custom_id"], input["style"] = 4, "a", 2
		return fields{"type": 9, "data": fields{"custom_id": "why", "title": title, "components": []any{
			fields{"type": 1, "components": []any{input}},
		}}}
	}
	six := []any{}
	for i := range 6 {
		six = append(six, button("a", fmt.Sprint(i)))
	}
	const create, press = "/channels/" + general + "/messages", "/interactions/PRESS/callback"
	for name, c := range map[string]struct {
		method, path string
		body         any
	}{
		"a nonce":          {"POST", create, fields{"content": "x", "nonce": long(26)}},
		"a button's label": {"POST", create, row(button(long(81), "a"))},
		"a button's id":    {"POST", create, row(button("a", long(101)))},
		"a button's style": {"POST", create, row(fields{"type": 2, "style": 9, "label": "a", "custom_id": "a"})},
		"six buttons":      {"POST", create, row(six...)},
		"no button":        {"POST", create, row()},
		"a placeholder":    {"POST", create, menu(long(151), "a")},
		"an option":        {"POST", create, menu("a", long(101))},
		"a kind of mention": {"POST", create, fields{
			"content": "x", "allowed_mentions": fields{"parse": []string{"all"}},
		}},
		"an embed's title": {"POST", create, fields{"embeds": []any{fields{"title": long(257)}}}},
		"a page":           {"GET", create + "?limit=101", nil},
		"a command":        {"POST", "/applications/APP/commands", fields{"name": "ask", "description": long(101)}},
		"an option's type": {"POST", "/applications/APP/commands", fields{
			"name": "ask", "description": "x", "options": []any{fields{"name": "text", "description": "x"}},
		}},
		"a form's title":     {"POST", press, modal(long(46), fields{"label": "A"})},
		"an input's label":   {"POST", press, modal("Why?", fields{"label": long(46)})},
		"an input's size":    {"POST", press, modal("Why?", fields{"label": "A", "max_length": 4001})},
		"an input's example": {"POST", press, modal("Why?", fields{"label": "A", "placeholder": long(101)})},
		"a thread's name":    {"POST", create + "/POST/threads", fields{"name": ""}},
		"a thread's time":    {"POST", create + "/POST/threads", fields{"name": "x", "auto_archive_duration": 7}},
	} {
		fake := discordtest.New(discordtest.Options{})
		w := rigOn(t, fake)
		post := w.alice.Posts(general, "hello")
		i := w.bob.Clicks(general, w.card(t).ID, "Deny")
		ids := strings.NewReplacer("APP", w.ApplicationID(), "POST", post.ID, "PRESS", i.ID+"/"+i.Token)
		path := ids.Replace(c.path)
		if status := w.call(t, c.method, path, c.body, nil); status >= 300 {
			t.Errorf("%s: HTTP %d", name, status)
		}
		if found := w.Deviations(); len(found) == 0 || !strings.Contains(found[0], "a request differs") {
			t.Errorf("%s: it finds %q", name, found)
		}
		fake.Close()
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
