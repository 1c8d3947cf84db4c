package heard_test

import (
	"encoding/json"
	"slices"
	"testing"

	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/core"
)

// TestMessagesOfAThreadAreReadable: with all that they carry, and who wrote what.
func TestMessagesOfAThreadAreReadable(t *testing.T) {
	names := heard.Names{"U1": "ann", "U2": "bob", "B1": "Alerts"}
	var got []core.Quotation
	for _, m := range []heard.Message{{
		User: "U1", TS: "1764000000.000100", Text: "look, <@U2>",
		Files: json.RawMessage(`[{"id":"F1","name":"a.png"}]`),
		Attachments: json.RawMessage(
			`[{"is_share":true,"author_id":"U2","text":"mine","files":[{"id":"F2","name":"b.png"}]}]`,
		),
	}, {BotID: "B1", TS: "x", Attachments: json.RawMessage(`[{"text":"disk full"}]`)}} {
		got = append(got, m.Quote("message of this thread", heard.Read(m), names))
	}
	want := []core.Quotation{{
		What: "message of this thread", Name: "ann", ID: "slack:U1", At: "2025-11-24T16:00:00Z",
		Text: "look, @bob\n" + `{"quoted":"forwarded message","name":"bob","id":"slack:U2"} wrote:` +
			"\n> mine\n> [attached files: b.png]\n[attached files: a.png]",
	}, {
		What: "message of this thread", Name: "Alerts", ID: "slack:B1", Text: "disk full",
	}}
	if !slices.Equal(got, want) {
		t.Errorf("they read %+v, want %+v", got, want)
	}
}
