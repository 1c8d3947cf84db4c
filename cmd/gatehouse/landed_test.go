package main

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
)

// landed are the databases that earlier builds wrote, by the engine; storage/testdata/README.md says what they hold.
var landed = map[string]func(t *testing.T, build string) (url string){
	"sqlite": func(t *testing.T, build string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "landed.db")
		unzip(t, "../../storage/sqlite/testdata/"+build+".db.gz", file)
		return "sqlite:" + file
	},
	"postgres": func(t *testing.T, build string) string {
		t.Helper()
		url := postgrestest.New(t)
		noErr(t, postgrestest.Restore(url, "../../storage/postgres/testdata/"+build+".sql"))
		return url
	},
}

// oldCard is a card that an earlier build posted, and its buttons.
type oldCard struct {
	Channel, TS, Thread string
	Buttons             []struct{ Action, Block, Value string }
}

// press presses a button of the card over HTTP, as Slack does, and returns the approval.
func (c oldCard) press(t *testing.T, s *testGateway, action string) core.ApprovalID {
	t.Helper()
	for _, b := range c.Buttons {
		if b.Action != action {
			continue
		}
		payload := mustJSON(map[string]any{
			"type": "block_actions", "team": map[string]string{"id": "T0GATE"},
			"user": map[string]string{"id": "U2BOB", "team_id": "T0GATE"},
			"container": map[string]string{
				"type": "message", "message_ts": c.TS, "thread_ts": c.Thread, "channel_id": c.Channel,
			},
			"channel": map[string]string{"id": c.Channel}, "trigger_id": "1.1",
			"response_url": s.slack.APIURL() + "none",
			"actions": []map[string]string{{
				"type": "button", "action_id": b.Action, "block_id": b.Block, "value": b.Value,
			}},
		})
		body := url.Values{"payload": {payload}}.Encode()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/slack/interactions",
			strings.NewReader(body))
		noErr(t, err)
		at := time.Now()
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("X-Slack-Request-Timestamp", strconv.FormatInt(at.Unix(), 10))
		request.Header.Set("X-Slack-Signature",
			slacktest.Sign(transports["HTTP"]["SLACK_SIGNING_SECRET"], at, []byte(body)))
		answer, err := http.DefaultClient.Do(request)
		noErr(t, err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("the press was answered with %d", answer.StatusCode)
		}
		_, rest, _ := strings.Cut(b.Value, "~")
		id, _, _ := strings.Cut(rest, "~")
		return core.ApprovalID(id)
	}
	t.Fatalf("the card has no button %s", action)
	return ""
}

// TestLaw12_AnOpenApprovalOfALandedBuildIsDecidedByItsOldButton: the database is brought up to date, the button that
// the earlier build drew decides, the turn that waited goes on, and the whole log is as it was recorded.
func TestLaw12_AnOpenApprovalOfALandedBuildIsDecidedByItsOldButton(t *testing.T) {
	t.Parallel()
	for engine, restore := range landed {
		for _, build := range []string{"e7d6217", "1e77b5d"} {
			t.Run(engine+"/"+build, func(t *testing.T) {
				t.Parallel()
				at := restore(t, build)
				text, err := os.ReadFile("../../storage/" + engine + "/testdata/" + build + ".json")
				noErr(t, err)
				var card oldCard
				noErr(t, json.Unmarshal(text, &card))
				s := serveSlack(t, slacktest.Options{}, map[string]string{
					"GATEHOUSE_DATABASE_URL": at, "SLACK_SIGNING_SECRET": transports["HTTP"]["SLACK_SIGNING_SECRET"],
				})
				store, err := storage.Open(t.Context(), at, storage.Options{})
				noErr(t, err)
				t.Cleanup(func() { _ = store.Close() })
				id := card.press(t, s, "approve")
				waitUntil(t, func() bool {
					a, err := store.LoadApproval(t.Context(), id)
					return err == nil && a.State == core.Approved && a.DecidedBy.ID == "slack:U2BOB"
				}, "the approval is decided")
				waitUntil(t, func() bool {
					i, err := store.LoadIntent(t.Context(), id)
					return err == nil && i != nil && i.Result != nil && i.Result.Category == ""
				}, "the tool ran")
				if code, out := s.command("approvals", "log", "--verify"); code != 0 {
					t.Errorf("the log ends with %d and says\n%s", code, out)
				}
			})
		}
	}
}

// TestLaw12_CommandsSayWhatALandedDatabaseNeedsAndWhyAnotherIsRefused: they change neither.
func TestLaw12_CommandsSayWhatALandedDatabaseNeedsAndWhyAnotherIsRefused(t *testing.T) {
	at := landed["sqlite"](t, "e7d6217")
	t.Setenv("GATEHOUSE_DATABASE_URL", at)
	if code, out, errs := gatehouse(t, "migrate", "--status"); code != cli.ExitBad ||
		!strings.Contains(out+errs, "has schema version 2") {
		t.Errorf("--status ends with %d and prints\n%s%s", code, out, errs)
	}
	if _, out, _ := gatehouse(t, "doctor"); !strings.Contains(out, "\nwarn  database ") {
		t.Errorf("doctor prints\n%s", out)
	}
	db, err := sql.Open("sqlite3", strings.TrimPrefix(at, "sqlite:"))
	noErr(t, err)
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `alter table outbox drop column arrived`); err != nil {
		t.Fatal(err)
	}
	const unreleased = "An unreleased build wrote this database; open it with that build, or start a new one."
	for _, command := range [][]string{{"migrate", "--status"}, {"migrate"}, {"doctor"}, {"serve"}} {
		if code, out, errs := gatehouse(t, command...); code == cli.ExitDone ||
			!strings.Contains(out+errs, unreleased) {
			t.Errorf("%v ends with %d and prints\n%s%s", command, code, out, errs)
		}
	}
}
