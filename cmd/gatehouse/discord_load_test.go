package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/cmd/gatehouse/internal/cli"
)

// loadConversation is a conversation of a load test, with its messages in order.
type loadConversation struct {
	by      *discordtest.Person
	channel string // the parent of the thread; "": direct messages
	at      string // the thread, or the channel of the direct messages
	said    []string
}

// loadConversations makes conversations: threads that begin with a mention in one of the channels, and direct messages
// of one user each.
func (d *discordGateway) loadConversations(channels, threads, directs int) []*loadConversation {
	var all []*loadConversation
	for i := range channels {
		d.discord.AddChannel(
			discordtest.Channel{ID: strconv.Itoa(6000 + i), Guild: guildID, Name: fmt.Sprintf("room-%d", i)})
	}
	for i := range threads {
		all = append(all, &loadConversation{by: d.ann, channel: strconv.Itoa(6000 + i%channels)})
	}
	for i := range directs {
		id := strconv.Itoa(7000 + i)
		by := d.discord.AddUser(discordtest.User{ID: id, Name: "person-" + id})
		all = append(all, &loadConversation{by: by, at: d.discord.DMWith(id)})
	}
	return all
}

// send posts a message in a conversation. The messages after the first wait until the bot has opened the thread.
func (d *discordGateway) send(c *loadConversation, word string) {
	d.t.Helper()
	c.said = append(c.said, word)
	switch {
	case c.at != "":
		if c.channel != "" {
			if _, err := d.discord.WaitForThread(d.ctx(), c.at); err != nil {
				d.t.Fatalf("the thread of %s is not opened: %v", c.said[0], err)
			}
		}
		c.by.Posts(c.at, word, discordtest.Twice())
	default:
		c.at = c.by.Posts(c.channel, d.discord.MentionOfBot()+" "+word, discordtest.Twice()).ID
	}
}

// sendAll posts messages in all conversations, one in each in turn.
func (d *discordGateway) sendAll(all []*loadConversation, messages int, between func(n int)) {
	d.t.Helper()
	n := 0
	for i := range messages {
		for j, c := range all {
			d.send(c, fmt.Sprintf("word-%d-%d.", j, i))
			n++
			between(n)
		}
	}
}

// replies returns the words of the bot's messages in a conversation, in order.
func (d *discordGateway) replies(c *loadConversation) []string {
	var words []string
	for _, m := range d.discord.FromBot(c.at) {
		word, _, _ := strings.Cut(strings.TrimPrefix(m.Shown(), "echo: "), ".") // an invisible mark follows
		words = append(words, word+".")
	}
	return words
}

// count counts the replies in all conversations.
func (d *discordGateway) count(all []*loadConversation) (n int) {
	for _, c := range all {
		n += len(d.discord.FromBot(c.at))
	}
	return n
}

// waiting is the JSON that gatehouse queue prints.
type waiting struct {
	Conversations []json.RawMessage `json:"conversations"`
	Posts         int               `json:"posts"`
	InDoubt       int               `json:"posts_in_doubt"`
	DeadPosts     int               `json:"posts_dead"`
	Dead          int               `json:"dead_letters"`
}

func (d *discordGateway) queue() (q waiting) {
	d.t.Helper()
	code, out := d.command("queue", "--json")
	if err := json.Unmarshal([]byte(out), &q); err != nil || code != cli.ExitDone {
		d.t.Fatalf("queue ended with %d: %s", code, out)
	}
	return q
}

// answered waits until nothing is waiting, and fails if a reply is missing, repeated or out of order.
func (d *discordGateway) answered(all []*loadConversation, within time.Duration) {
	d.t.Helper()
	want := 0
	for _, c := range all {
		want += len(c.said)
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	end := time.After(within)
	var q waiting
	for done := false; !done; {
		select {
		case <-tick.C:
			if d.count(all) >= want {
				q = d.queue()
				done = len(q.Conversations) == 0 && q.Posts == 0
			}
		case <-end:
			d.t.Errorf("%d of %d replies came; waiting: %+v", d.count(all), want, d.queue())
			done = true
		}
	}
	if q.InDoubt+q.DeadPosts+q.Dead > 0 {
		d.t.Errorf("there are dead letters or posts in doubt: %+v", q)
	}
	wrong := 0
	for _, c := range all {
		if got := d.replies(c); !slices.Equal(got, c.said) && wrong < 10 {
			wrong++
			d.t.Errorf("in the conversation %s the bot posted %q\nwant %q", c.at, got, c.said)
		}
		if c.channel != "" && len(d.discord.FromBot(c.channel)) > 0 {
			d.t.Errorf("the bot posted in the channel %s, outside threads", c.channel)
		}
	}
}

func TestDiscordLoadEachReplyExactlyOnceAndInOrder(t *testing.T) {
	t.Parallel()
	d := serveDiscord(t, discordtest.Options{}, map[string]string{"GATEHOUSE_AGENT": "echo"})
	fault := func(how discordtest.Trouble, skip, every, times int) *discordtest.Injected {
		return d.discord.Inject(
			discordtest.Fault{
				Endpoint: discordtest.CreateMessage, Trouble: how, Skip: skip, Every: every, Times: times,
			})
	}
	global := fault(discordtest.RateLimited(2*time.Second, discordtest.ScopeGlobal), 0, 80, 4)
	faults := []*discordtest.Injected{
		fault(discordtest.RateLimited(time.Second, discordtest.ScopeUser), 0, 20, 0),
		fault(discordtest.RateLimited(time.Second, discordtest.ScopeShared), 10, 20, 0),
		fault(discordtest.AnswerLost(), 5, 10, 0),
	}
	all := d.loadConversations(15, 60, 20)
	d.sendAll(all, 4, func(int) {})
	d.answered(all, 3*time.Minute)
	for i, fault := range faults {
		if fault.Hits() < 15 {
			t.Errorf("the fault %d occurred only %d times", i, fault.Hits())
		}
	}
	if global.Hits() < 3 {
		t.Errorf("the global rate limit was hit only %d times", global.Hits())
	}
	d.mentionsNobody()
	d.ready(http.StatusOK)
}
