package slack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

func TestBlocksAreReadAsText(t *testing.T) {
	names := map[string]string{"U1": "ann", "C1": "general", "S1": "ops"}
	for name, c := range map[string]struct{ text, blocks, want string }{
		"nothing":    {"", ``, ""},
		"not a list": {"x", `{"type":"section"}`, "x"},
		"text has it": {
			"*bold* for <@U1|x> in <#C1|>", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[
			{"type":"text","text":"bold","style":{"bold":true}},{"type":"text","text":" for "},{"type":"user","user_id":"U1"},
			{"type":"text","text":" in "},{"type":"channel","channel_id":"C1"}
		]}]}]`, "*bold* for @ann in #general",
		},
		"text has less": {"Deploy", `[{"type":"section","text":{"type":"mrkdwn","text":"*Deploy* main"}},
			{"type":"context","elements":[{"type":"plain_text","text":"R&amp;D <@U1>"}]}
		]`, "*Deploy* main\nR&D <@U1>"},
		"no text": {"This content can't be displayed.", `[
			{"type":"header","text":{"type":"plain_text","text":"Title"}},{"type":"divider"},
			{"type":"section","fields":[{"type":"mrkdwn","text":"a"},{"type":"mrkdwn","text":"b"}],
				"accessory":{"type":"image","alt_text":"a cat","image_url":"https://x"}},
			{"type":"markdown","text":"**md** <!here>"}
		]`, "Title\na\nb\n[image: a cat]\n**md** @here"},
		"rich text": {"", `[{"type":"rich_text","elements":[
			{"type":"rich_text_section","elements":[
				{"type":"text","text":"see <b> & "},{"type":"link","url":"https://x.org/?a=1&b=2","text":"this"},
				{"type":"text","text":" "},{"type":"link","url":"https://y.org"},{"type":"emoji","name":"wave","skin_tone":4},
				{"type":"broadcast","range":"here"},{"type":"usergroup","usergroup_id":"S1"},
				{"type":"date","timestamp":1392734382,"format":"{date}","fallback":"Feb 18"},{"type":"color","value":"#fff"}
			]},
			{"type":"rich_text_list","style":"ordered","offset":1,"elements":[
				{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]}
			]},
			{"type":"rich_text_list","style":"bullet","indent":1,"elements":[
				{"type":"rich_text_section","elements":[{"type":"text","text":"two"}]}
			]},
			{"type":"rich_text_quote","elements":[{"type":"text","text":"q\nr"}]},
			{"type":"rich_text_preformatted","elements":[{"type":"text","text":"a < b"}]}
		]}]`, "see <b> & this (https://x.org/?a=1&b=2) https://y.org:wave::skin-tone-4:@here@opsFeb 18#fff\n" +
			"2. one\n    ◦ two\n> q\n> r\n```a < b```"},
		"a data table": {"see the caption", `[{"type":"data_table","caption":"Caption","rows":[
			[{"type":"raw_text","text":"n"},{"type":"raw_number","value":3.5}],
			{"cells":["x",{"type":"raw_number","value":4,"text":"4.0"},null]}
		]}]`, "see the caption\nCaption\nn | 3.5\nx | 4.0 |"},
		"unknown": {"", `[{"type":"carousel","elements":[{"type":"card",
			"title":{"type":"mrkdwn","text":"Card"},"body":{"type":"new","text":"words","url":"https://x"},
			"actions":[{"type":"button","text":{"type":"plain_text","text":"Open"},"value":"v","action_id":"a",
				"confirm":{"title":{"type":"plain_text","text":"Sure?"}}}]
		}]}]`, "Card\nwords\n[Open]"},
		"wrong forms": {"", `[7,null,"x",[],{"type":5,"text":"five"},{"type":"section","text":7},
			{"type":"table","rows":"none"},{"type":"rich_text","elements":{}},{"type":"text","type":"text","text":"twice"}
		]`, "five\ntwice"},
		"too deep": {
			"", `[{"type":"raw_text","text":"a"},` + strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100) + `]`, "a",
		},
	} {
		if got := fromMrkdwn(withBlocks(c.text, json.RawMessage(c.blocks)), names); got != c.want {
			t.Errorf("%s: it reads %q, want %q", name, got, c.want)
		}
	}
}

// TestMessagesOfAThreadAreReadable: with all that they carry, and who wrote what.
func TestMessagesOfAThreadAreReadable(t *testing.T) {
	signer, err := core.NewSigner("a key for the tests, which is long")
	if err != nil {
		t.Fatal(err)
	}
	n := New(core.Deps{Signer: signer}, Config{APIURL: "http://127.0.0.1:1/"}).newNames()
	n.known["U1"], n.known["U2"], n.known["B1"] = "ann", "bob", "Alerts"
	got := n.readable(t.Context(), bot{}, "message of this thread", []slackMessage{{
		User: "U1", TS: "1764000000.000100", Text: "look, <@U2>",
		Files: json.RawMessage(`[{"id":"F1","name":"a.png"}]`),
		Attachments: json.RawMessage(
			`[{"is_share":true,"author_id":"U2","text":"mine","files":[{"id":"F2","name":"b.png"}]}]`,
		),
	}, {BotID: "B1", TS: "x", Attachments: json.RawMessage(`[{"text":"disk full"}]`)}}...)
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
