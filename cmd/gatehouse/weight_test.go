package main

import (
	"io"
	"net/http"
	"os"
	"regexp"
	"testing"
)

// TestThePagesAreLight: the chat with every asset there is, also those of other pages, is below 80 kB on the wire.
func TestThePagesAreLight(t *testing.T) {
	t.Parallel()
	p := newLocal(t)
	get := func(path string) (sent int) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.at+path, nil)
		noErr(t, err)
		r.Header.Set("Accept-Encoding", "gzip") // set here, it is not undone by the client
		answer, err := http.DefaultClient.Do(r)
		noErr(t, err)
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v", path, answer.Status, err)
		}
		return len(raw)
	}
	all := get("/")
	plain, err := http.Get(p.at + "/")
	noErr(t, err)
	defer plain.Body.Close()
	page, err := io.ReadAll(plain.Body)
	noErr(t, err)
	folder := regexp.MustCompile(`/assets/[0-9a-f]+/`).FindString(string(page))
	files, err := os.ReadDir("../../adapters/web/assets")
	noErr(t, err)
	for _, f := range files {
		all += get(folder + f.Name())
	}
	t.Logf("%d files and the page take %d bytes", len(files), all)
	if all >= 80_000 {
		t.Errorf("%d files and the page take %d bytes on the wire", len(files), all)
	}
}
