package discordtest_test

import (
	"net/http"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// What differs from Discord's own description is shown. The description is not part of the repository.
func TestDeviationsFromDiscordsDescription(t *testing.T) {
	if !discordtest.Described() {
		t.Skip("SKIPPED: no call was compared with Discord's description of its API. Set " + discordtest.DescriptionKey + " to the path of discord-openapi.json.")
	}
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
	if found := fake.Deviations(); len(found) != 2 || !strings.Contains(found[0], "flags") || !strings.Contains(found[1], "wait") {
		t.Errorf("it finds %q", found)
	}
}
