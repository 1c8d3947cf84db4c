package heard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/adapters/slack/internal/heard"
	"gatehouse/adapters/slack/internal/mrkdwn"
)

func TestBlocksAreReadAsText(t *testing.T) {
	names := map[string]string{"U1": "ann", "C1": "general", "S1": "ops"}
	for name, c := range map[string]struct{ text, blocks, want string }{
		"nothing":    {"", ``, ""},
		"not a list": {"x", `{"type":"section"}`, "x"},
		"text has it": {
			"*bold* for <@U1|x> in <#C1|>", `[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[
			{"type":"text","text":"bold","style":{"bold":true}},{"type":"text","text":" for "},{"type":"user",
			"user_id":"U1"},
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
				{"type":"text","text":" "},{"type":"link","url":"https://y.org"},{"type":"emoji","name":"wave",
				"skin_tone":4},
				{"type":"broadcast","range":"here"},{"type":"usergroup","usergroup_id":"S1"},
				{"type":"date","timestamp":1392734382,"format":"{date}","fallback":"Feb 18"},{"type":"color",
				"value":"#fff"}
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
			{"type":"table","rows":"none"},{"type":"rich_text","elements":{}},{"type":"text","type":"text",
			"text":"twice"}
		]`, "five\ntwice"},
		"too deep": {
			"", `[{"type":"raw_text","text":"a"},` + strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100) + `]`, "a",
		},
	} {
		m := heard.Message{Text: c.text, Blocks: json.RawMessage(c.blocks)}
		if got := mrkdwn.Plain(heard.Read(m).Text, names); got != c.want {
			t.Errorf("%s: it reads %q, want %q", name, got, c.want)
		}
	}
}
