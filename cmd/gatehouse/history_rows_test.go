package main

import (
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core/llm/llmtest"
)

// quietDatabase was written by 1e77b5d: ten turns of quietTurns, whose tool messages have no content.
const quietDatabase = "testdata/quiet-1e77b5d.db.gz"

// serveQuiet serves a database with a tool that prints nothing, and a model whose thinking is signed and empty.
func serveQuiet(t *testing.T, v fakeVendor) *testGateway {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tools.yaml")
	yaml := "version: 1\ntools:\n  - name: quiet.run\n    description: Says nothing.\n    risk: read\n    command: " +
		"[\"true\"]\n    env: [PATH]\n"
	noErr(t, os.WriteFile(file, []byte(yaml), 0o600))
	return serveModel(t, v,
		map[string]string{"GATEHOUSE_TOOLS": file, "GATEHOUSE_RATE": "0", "GATEHOUSE_RETENTION": "0"})
}

// quietTurns has turns in which the model thinks in silence, calls the quiet tool and answers.
func quietTurns(s *testGateway, v fakeVendor, from, to int) {
	s.t.Helper()
	answer := func(n int, what, content, stop string) llmtest.Answer {
		return llmtest.Answer{Body: fmt.Appendf(nil,
			`{"id":"m","type":"message","role":"assistant","model":"claude-test","stop_reason":%q,
			"usage":{"input_tokens":1,"output_tokens":1},
			"content":[{"type":"thinking","thinking":"","signature":"sig+/=<&>%s%d"},%s]}`, stop, what, n, content)}
	}
	for n := from; n < to; n++ {
		v.Then(
			answer(n, "call", fmt.Sprintf(`{"type":"tool_use","id":"c%d","name":"quiet__run","input":{}}`, n),
				"tool_use"),
			answer(n, "text", fmt.Sprintf(`{"type":"text","text":"answer %d"}`, n), "end_turn"))
		said := newShell(s.t, s.base, "").send(request(fmt.Sprintf("r%d", n), "s1", fmt.Sprintf("turn %d", n)))
		if !strings.Contains(string(said.Raw), fmt.Sprintf("answer %d", n)) {
			s.t.Fatalf("turn %d: %s", n, said.Raw)
		}
	}
}

// TestSilentToolsAndThinking: twenty turns with a tool that prints nothing and with thinking that is signed and empty,
// half of them stored by the gatehouse of before, and a restart among the others. Thinking goes back as it came, but
// for that of before, which does not say to which endpoint and account it belongs; all results say that there was no
// output.
func TestSilentToolsAndThinking(t *testing.T) {
	v := vendors["Anthropic"](t)
	s := serveQuiet(t, v)
	s.stop()
	<-s.code
	file := strings.TrimPrefix(s.db, "sqlite:")
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(file + end)
	}
	unzip(t, quietDatabase, file)
	s.start()
	quietTurns(s, v, 10, 15)
	s.stop()
	<-s.code
	s.start()
	quietTurns(s, v, 15, 20)
	var sent struct {
		Messages []struct{ Content any }
	}
	body := v.lastBody()
	noErr(t, json.Unmarshal([]byte(body), &sent))
	silent, thoughts := 0, map[string]bool{}
	for _, m := range sent.Messages {
		blocks, _ := m.Content.([]any)
		for _, b := range blocks {
			switch block := b.(map[string]any); block["type"] {
			case "tool_result":
				silent++
				if block["content"] != "[No output.]" {
					t.Errorf("a result is shown as %v", block)
				}
			case "thinking":
				if block["thinking"] != "" || len(block) != 3 {
					t.Errorf("thinking went back as %v", block)
				}
				thoughts[block["signature"].(string)] = true
			}
		}
	}
	for n := range 20 {
		call, text := thoughts[fmt.Sprintf("sig+/=<&>call%d", n)], thoughts[fmt.Sprintf("sig+/=<&>text%d", n)]
		if now := n >= 10; call != now || text != (now && n < 19) {
			t.Errorf("the thinking of turn %d went back: %t before its call, %t before its text", n, call, text)
		}
	}
	if silent != 20 {
		t.Errorf("%d results, want 20", silent)
	}
	_, rows := s.command("sessions", "export", "openharness:oh/local/s1@1")
	if n := strings.Count(rows, "[No output.]"); n != 20 {
		t.Errorf("%d results are shown with a content, want 20: %s", n, rows)
	}
}

func unzip(t *testing.T, from, to string) {
	t.Helper()
	packed, err := os.Open(from)
	noErr(t, err)
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	noErr(t, err)
	data, err := io.ReadAll(r)
	noErr(t, err)
	noErr(t, os.WriteFile(to, data, 0o600))
}

// execute changes the database behind gatehouse's back.
func (s *testGateway) execute(statement string, args ...any) {
	s.t.Helper()
	db, err := sql.Open("sqlite3", strings.TrimPrefix(s.db, "sqlite:")+"?_busy_timeout=10000")
	noErr(s.t, err)
	defer db.Close()
	if r, err := db.Exec(statement, args...); err != nil {
		s.t.Fatal(err)
	} else if n, _ := r.RowsAffected(); n == 0 {
		s.t.Fatalf("%s changed nothing", statement)
	}
}

// TestAnUnreadableRowEndsTheConversation: a row of the history that can't be read, whether it is no JSON or no message,
// is session_load_failed: the person is told to start a new conversation, nothing offers to try again, and the new
// conversation works.
func TestAnUnreadableRowEndsTheConversation(t *testing.T) {
	for _, row := range []string{`{`, `[1]`, `{"role":"user","content":7}`} {
		v := vendors["OpenAI"](t)
		s := serveModel(t, v, nil)
		v.Think(func(llmtest.Received) llmtest.Answer { return v.say("Here I am.") })
		s.ann.Says("hello")
		s.reads(s.dm, "", "Here I am.")
		s.execute(`update messages set body = ? where n = 0`, row)
		s.ann.Says("again")
		if m := s.reads(s.dm, "",
			"This conversation can't continue. Please start a new one."); strings.Contains(m.Shown(), "Try again") {
			t.Errorf("%s: %s", row, m.Shown())
		}
		if _, out := s.command("turns", "list", "--json"); !strings.Contains(out, `"session_load_failed"`) {
			t.Errorf("%s: %s", row, out)
		}
		s.ann.Says("!new")
		s.reads(s.dm, "", "This is a new conversation.")
		v.Think(func(llmtest.Received) llmtest.Answer { return v.say("In the new one.") })
		s.ann.Says("hello")
		s.reads(s.dm, "", "In the new one.")
	}
}

// TestAnUnreadablePausedTurnEnds: what is stored of a turn that waits can't be read any more. Its approval ends it with
// a sentence, and a new conversation can begin without it.
func TestAnUnreadablePausedTurnEnds(t *testing.T) {
	for _, statement := range []string{`update paused set record = '{'`, `update messages set body = '{'`} {
		for _, how := range []string{"approve", "reset"} {
			s := serveSlack(t, slacktest.Options{}, transports["HTTP"])
			thread, card := s.asked("milk")
			s.execute(statement)
			if how == "approve" {
				s.bob.Clicks("C1", card.TS, "approve")
				s.reads("C1", thread, "This conversation can't continue. Please start a new one.")
			}
			s.ann.Posts("C1", "!new", slacktest.InThread(thread))
			s.reads("C1", thread, "This is a new conversation.")
			s.ann.Posts("C1", "calc 20+3", slacktest.InThread(thread))
			s.reads("C1", thread, "23")
		}
	}
}

// TestDamageIsRetryableAndRed: where the database is damaged, nobody is asked for a new conversation, and /readyz is
// red as long as the damage is there, although other commits succeed.
func TestDamageIsRetryableAndRed(t *testing.T) {
	v := vendors["OpenAI"](t)
	s := serveModel(t, v, nil)
	v.Think(func(llmtest.Received) llmtest.Answer { return v.say("Here I am.") })
	s.ann.Says("hello")
	s.reads(s.dm, "", "Here I am.")
	s.ready(http.StatusOK)
	s.stop()
	<-s.code
	s.execute(`update messages set body = ? where n = 0`, `{"role":"user","content":"`+strings.Repeat("x", 100000)+`"}`)
	damageOverflow(t, strings.TrimPrefix(s.db, "sqlite:"))
	s.start()
	s.ready(http.StatusOK)
	s.ann.Says("again")
	if m := s.reads(s.dm, "", "I can't read my database now."); strings.Contains(m.Shown(), "new one") {
		t.Error(m.Shown())
	}
	for range 5 {
		s.ready(http.StatusServiceUnavailable)
	}
}

// damageOverflow breaks the chain of pages that holds a long text.
func damageOverflow(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	noErr(t, err)
	page, broken := int(data[16])<<8|int(data[17]), 0
	for at := page; at+page <= len(data); at += page {
		if strings.Count(string(data[at+4:at+page]), "x") == page-4 {
			copy(data[at:at+4], []byte{0x7f, 0xff, 0xff, 0xff})
			broken++
		}
	}
	if broken == 0 {
		t.Fatal("no page was found")
	}
	noErr(t, os.WriteFile(file, data, 0o600))
}
