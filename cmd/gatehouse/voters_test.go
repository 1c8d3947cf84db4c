package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

const (
	voters      = 100
	votersChild = "TEST_VOTERS"      // the URL of a database: be the second half of the voters
	voteRounds  = "TEST_VOTE_ROUNDS" // how many requests they vote on
)

// voteAtOnce has half of the voters vote on an approval at once: those with odd numbers deny.
func voteAtOnce(ctx context.Context, service *approvals.Service, id core.ApprovalID, first int) error {
	errs := make([]error, voters/2)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			n := first + i
			c := core.Click{Approval: id, Choice: core.Approve, Reason: "because"}
			if n%2 == 1 {
				c.Choice = core.Deny
			}
			_, err := service.Vote(ctx, c, core.Actor{ID: voter(n), Name: "Voter " + strconv.Itoa(n)}, 0)
			for core.CategoryOf(err) == core.StoreBusy {
				_, err = service.Vote(ctx, c, core.Actor{ID: voter(n)}, 0)
			}
			if core.CategoryOf(err) != core.ApprovalDecided {
				errs[i] = err
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func voter(n int) string { return fmt.Sprintf("slack:U%03d", n) }

// runVoters is the second half of the voters: it votes on each approval whose id it reads, and then prints the id.
func runVoters(url string) error {
	ctx := context.Background()
	store, err := storage.Open(ctx, url, storage.Options{NewID: cli.NewID})
	if err != nil {
		return err
	}
	defer store.Close()
	service := approvals.NewService(store, store)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if err := voteAtOnce(ctx, service, core.ApprovalID(lines.Text()), voters/2); err != nil {
			return err
		}
		fmt.Println("voted on", lines.Text())
	}
	return nil
}

// TestLaw7_AHundredApproversAtOnce: a hundred people approve and deny each request at the same moment, half of them
// through another process. Each request has one decision, one signal and at most one execution, and the audit log tells
// of all of it. TEST_VOTE_ROUNDS is the number of requests.
func TestLaw7_AHundredApproversAtOnce(t *testing.T) {
	rounds, _ := strconv.Atoi(cmp.Or(os.Getenv(voteRounds), "4"))
	var people []string
	for n := range voters {
		people = append(people, voter(n))
	}
	rule := func(quorum, vetoes int) string {
		return fmt.Sprintf(`
  - {name: "%d of %d", tools: ["note.add"], action: ask, when: 'args.text matches "quorum %d"',
     approvers: [%s], quorum: %d, vetoes: %d, expires: never}`,
			quorum, vetoes, quorum, strings.Join(people, ", "), quorum, vetoes)
	}
	policy := "version: 1\nrules:" + rule(1, 1) + rule(20, 20) + rule(50, 3)
	onEachEngine(t, func(t *testing.T, e engine) {
		p := newSlackProcessOn(t, e, "GATEHOUSE_APPROVAL_POLICY="+policyFile(t, policy), "GATEHOUSE_RATE=0")
		p.open()
		others := p.workbench.start([]string{votersChild + "=" + p.url})
		service := approvals.NewService(p.store, p.store)
		threads := map[core.ApprovalID]string{}
		for round := range rounds {
			ask := p.ann.Posts("C1",
				fmt.Sprintf("%s note add quorum %d", p.slack.MentionOfBot(), []int{1, 20, 50}[round%3]))
			p.until("the request", p.app, func() bool { return len(p.approvals(core.Open)) == 1 })
			id := p.approvals(core.Open)[0].ID
			threads[id] = ask.TS
			others.typeLine(string(id))
			noErr(t, voteAtOnce(t.Context(), service, id, 0))
			p.until("the votes of the others", others, func() bool {
				return strings.Contains(others.out.String(), "voted on "+string(id))
			})
			p.until("the decision", p.app, func() bool { return len(p.approvals(core.Open)) == 0 })
		}
		others.ok(t)
		p.until("the end of all", p.app, p.settled)
		p.app.kill()
		for _, a := range p.approvals() {
			p.wantOneDecision(a, threads[a.ID])
		}
		p.workbench.start(nil, "approvals", "log", "--verify", "--database-key").ok(t)
	})
}

// wantOneDecision checks a request that many have voted on.
func (p *slackProcess) wantOneDecision(a core.Approval, thread string) {
	t := p.workbench.t
	t.Helper()
	signals := p.events(core.EventFilter{Invocation: a.Invocation})
	signals = slices.DeleteFunc(signals, func(e core.EventRecord) bool { return e.Kind() != core.KindSignal })
	if len(signals) != 1 || signals[0].End.Kind != core.EndReplied {
		t.Errorf("%s has %d signals: %+v", a.ID, len(signals), signals)
	}
	count := map[core.Choice]int{}
	for _, v := range a.Standing() {
		count[v.Choice]++
	}
	wanted, choice := 0, core.Approve
	switch a.State {
	case core.Approved:
		wanted = a.Rule.Quorum
	case core.Denied:
		wanted, choice = a.Rule.Vetoes, core.Deny
	}
	if wanted == 0 || count[choice] != wanted || count[core.Approve] > a.Rule.Quorum ||
		count[core.Deny] > a.Rule.Vetoes || len(a.Votes) != count[core.Approve]+count[core.Deny] {
		t.Errorf("%s is %s after %v of %d votes", a.ID, a.State, count, len(a.Votes))
	}
	p.conversation = core.ConversationID("slack:" + p.slack.TeamID() + ":C1:" + thread)
	notes := 0
	if a.State == core.Approved {
		notes = 1
	}
	if got := p.notes(); len(got) != notes {
		t.Errorf("%s is %s, and the notes are %q", a.ID, a.State, got)
	}
}
