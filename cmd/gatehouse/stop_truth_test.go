package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/slack/slacktest"
)

// longCall writes a tool that runs until a file is there, and fails if it says so; limit is how long a call may take.
// The tool prints the file.
func longCall(t *testing.T, limit string) (env map[string]string, began string, end func(says string)) {
	t.Helper()
	dir := t.TempDir()
	began, file := filepath.Join(dir, "began"), filepath.Join(dir, "end")
	script := "touch " + began + "; until [ -e " + file + " ]; do sleep 0.02; done; cat " + file +
		"; grep -q fails " + file + " && exit 3; exit 0"
	tools := filepath.Join(dir, "tools.yaml")
	text := "version: 1\ntools:\n  - name: shop.pay\n    description: Pays.\n    risk: write\n" +
		"    summary: Pay the bill.\n    timeout: " + limit + "\n    command: [sh, -c, '" + script +
		"']\n    env: [PATH]\n"
	noErr(t, os.WriteFile(tools, []byte(text), 0o600))
	return map[string]string{"GATEHOUSE_TOOLS": tools}, began, func(says string) {
		written := file + ".new"
		noErr(t, os.WriteFile(written, []byte(says), 0o600))
		noErr(t, os.Rename(written, file))
	}
}

const callGoesOn = "This call has begun and goes on; its result will be posted here, and nothing else will be done " +
	"after it: " +
	"Pay the bill."

// waitForFile waits until a file is there.
func waitForFile(t *testing.T, file string) {
	t.Helper()
	waitUntil(t, func() bool {
		_, err := os.Stat(file)
		return err == nil
	}, file)
}

// results are how a call may end that went on when its turn was stopped.
var results = map[string]struct{ says, told string }{
	"it is done": {"receipt 7", "This was done before: Pay the bill.\nIts result: receipt 7"},
	"it fails":   {"it fails", "This failed: Pay the bill.\nIts result: shop.pay ended with status 3"},
}

// TestStopSaysThatACallGoesOn, and its result is shown.
func TestStopSaysThatACallGoesOn(t *testing.T) {
	for name, c := range results {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, began, end := longCall(t, "5m")
			env["SLACK_SIGNING_SECRET"] = transports["HTTP"]["SLACK_SIGNING_SECRET"]
			s := serveSlack(t, slacktest.Options{}, env)
			ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" call shop.pay {}")
			card := s.card("C1", ask.TS, "Pay the bill.")
			s.bob.Clicks("C1", card.TS, "approve")
			waitForFile(t, began)
			s.ann.Posts("C1", "!stop", slacktest.InThread(ask.TS))
			s.reads("C1", ask.TS, callGoesOn)
			end(c.says)
			s.reads("C1", ask.TS, c.told)
			for _, m := range s.slack.Thread("C1", ask.TS) {
				if strings.Contains(m.Shown(), "Stopped.") {
					t.Errorf("it says that it has stopped:\n%s", s.slack.Dump())
				}
			}
			s.ann.Posts("C1", "!stop", slacktest.InThread(ask.TS))
			s.reads("C1", ask.TS, "Nothing is running.")
		})
	}
}

func TestDiscordStopSaysThatACallGoesOn(t *testing.T) {
	for name, c := range results {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, began, end := longCall(t, "5m")
			d := serveDiscord(t, discordtest.Options{}, env)
			ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" call shop.pay {}")
			card := d.card(ask.ID, "Pay the bill.")
			d.bob.Clicks(ask.ID, card.ID, "Approve")
			waitForFile(t, began)
			d.ann.Posts(ask.ID, "!stop")
			d.reads(ask.ID, callGoesOn)
			end(c.says)
			d.reads(ask.ID, c.told)
		})
	}
}

// inDoubt is what stands below the card of a call whose time is up.
const inDoubt = "It is unknown whether this was done, please check: Pay the bill."

// TestACallWhoseTimeIsUpIsUnknown, on its card and below it.
func TestACallWhoseTimeIsUpIsUnknown(t *testing.T) {
	t.Run("Slack", func(t *testing.T) {
		t.Parallel()
		env, _, _ := longCall(t, "1s")
		env["SLACK_SIGNING_SECRET"] = transports["HTTP"]["SLACK_SIGNING_SECRET"]
		s := serveSlack(t, slacktest.Options{}, env)
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" call shop.pay {}")
		card := s.card("C1", ask.TS, "Pay the bill.")
		s.bob.Clicks("C1", card.TS, "approve")
		s.reads("C1", ask.TS, inDoubt)
		s.shows("C1", card.TS, "Outcome unknown", 0)
	})
	t.Run("Discord", func(t *testing.T) {
		t.Parallel()
		env, _, _ := longCall(t, "1s")
		d := serveDiscord(t, discordtest.Options{}, env)
		ask := d.ann.Posts(channelID, d.discord.MentionOfBot()+" call shop.pay {}")
		card := d.card(ask.ID, "Pay the bill.")
		d.bob.Clicks(ask.ID, card.ID, "Approve")
		d.reads(ask.ID, inDoubt)
		d.shows(ask.ID, card.ID, "Outcome unknown")
	})
}

// TestAShellReadsThatACallGoesOn, and its result as a later event of the session's stream.
func TestAShellReadsThatACallGoesOn(t *testing.T) {
	for name, c := range results {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, began, end := longCall(t, "5m")
			p, ann, _, _ := newTrio(t, "GATEHOUSE_TOOLS="+env["GATEHOUSE_TOOLS"])
			card := ann.must(ann.send(request("r1", "s1", "call shop.pay {}"))).card()
			ann.header.Set("Prefer", "wait=0")
			ann.must(ann.send(with(request("r2", "s1", ""), card.choice("approve"))))
			waitForFile(t, began)
			ann.header.Set("Prefer", "wait=20")
			if stopped := ann.must(ann.send(request("r3", "s1", "!stop"))); strings.Join(stopped.texts(),
				"") != callGoesOn {
				t.Errorf("stop: %s", stopped.Raw)
			}
			end(c.says)
			first, _, _ := strings.Cut(c.told, "\n")
			ann.listen("s1", "0", has(first))
			p.app.kill()
		})
	}
}

// TestAShellReadsThatTheOutcomeIsUnknown where the time of a call is up.
func TestAShellReadsThatTheOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	env, _, _ := longCall(t, "1s")
	p, ann, _, _ := newTrio(t, "GATEHOUSE_TOOLS="+env["GATEHOUSE_TOOLS"])
	card := ann.must(ann.send(request("r1", "s1", "call shop.pay {}"))).card()
	ann.must(ann.send(with(request("r2", "s1", ""), card.choice("approve"))))
	ann.listen("s1", "0", has(inDoubt))
	p.app.kill()
}
