package discordtest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/internal/fakeserver"
)

// refusal is the body of an error.
type refusal struct {
	Message string
	Code    int
	Errors  any
}

// wire is a message as JSON.
type wire struct {
	ID, Content, Nonce string
	Flags              int
	Embeds             []any
}

func button(label, id string) fields {
	return fields{"type": 2, "style": 1, "label": label, "custom_id": id}
}

func row(cells ...any) fields { return fields{"type": 1, "components": cells} }

func TestRefusals(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	post := w.alice.Posts(general, "hello")
	w.AddChannel(discordtest.Channel{ID: "31", Guild: guildID, Name: "hidden"})
	w.DenyBot("31", discordtest.ViewChannel)
	w.AddChannel(discordtest.Channel{ID: "32", Guild: guildID, Name: "read only"})
	w.DenyBot("32", discordtest.SendMessages)
	create := "/channels/" + general + "/messages"
	long := strings.Repeat("é", 2001)
	cases := []struct {
		method, path string
		body         any
		status, code int
		holds        string
	}{
		{"GET", "/channels/99", nil, 404, 10003, ""},
		{"GET", create + "/99", nil, 404, 10008, ""},
		{"POST", "/channels/31/messages", fields{"content": "x"}, 403, 50001, ""},
		{"POST", "/channels/32/messages", fields{"content": "x"}, 403, 50013, ""},
		{"POST", "/channels/" + forum + "/messages", fields{"content": "x"}, 400, 50008, ""},
		{"POST", create, fields{"content": " \n"}, 400, 50006, ""},
		{
			"POST", create, fields{"content": long}, 400, 50035,
			`map[content:map[_errors:[map[code:BASE_TYPE_MAX_LENGTH message:Must be 2000 or fewer in length.]]]]`,
		},
		{
			"POST", create, fields{"content": "x", "components": []any{row(button("a", "i"), button("b", "i"))}}, 400,
			50035, "COMPONENT_CUSTOM_ID_DUPLICATED",
		},
		{
			"POST", create, fields{"content": "x", "message_reference": fields{"message_id": "99"}}, 400, 50035,
			"REPLIES_UNKNOWN_MESSAGE",
		},
		{"PATCH", create + "/" + post.ID, fields{"content": "x"}, 403, 50005, ""},
		{"GET", "/guilds/" + guildID + "/members/99", nil, 404, 10013, ""},
		{"GET", "/guilds/99/roles", nil, 404, 10004, ""},
		{
			"POST", "/applications/" + w.ApplicationID() + "/commands", fields{"name": "Ask", "description": "x"},
			400, 50035, "APPLICATION_COMMAND_INVALID_NAME",
		},
		{"POST", "/interactions/1/nope/callback", fields{"type": 4}, 404, 10062, ""},
		{"POST", "/webhooks/" + w.ApplicationID() + "/nope", fields{"content": "x"}, 401, 50027, ""},
	}
	for _, tc := range cases {
		var got refusal
		status := w.call(t, tc.method, tc.path, tc.body, &got)
		if status != tc.status || got.Code != tc.code || !strings.Contains(fmt.Sprint(got.Errors), tc.holds) {
			t.Errorf("%s %s: %d %+v, want %d %d %s", tc.method, tc.path, status, got, tc.status, tc.code, tc.holds)
		}
	}
	if n := w.InvalidRequests(); n != 4 {
		t.Errorf("%d invalid requests, want 4", n)
	}
	w.RevokeToken()
	var got refusal
	if status := w.get(t, "/users/@me", &got); status != 401 || got.Message != "401: Unauthorized" || got.Code != 0 {
		t.Errorf("%d %+v", status, got)
	}
}

// What the bot writes is refused for its words: in the guild by its moderation, everywhere by the filter of links.
func TestMessagesAreRefusedForTheirWords(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	w.Block(guildID, "Plum", "apple")
	w.BlockLinks("evil.example")
	create := "/channels/" + general + "/messages"
	dm := "/channels/" + w.DMWith("1001") + "/messages"
	card := fields{
		"flags": discordtest.FlagComponentsV2, "components": []any{fields{"type": 10, "content": "an apple"}},
	}
	var sent wire
	w.call(t, "POST", create, fields{"content": "a pear"}, &sent)
	check := func(method, path string, body any, status, code int) {
		t.Helper()
		var got refusal
		if is := w.call(t, method, path, body, &got); is != status || got.Code != code {
			t.Errorf("%s %s %v: %d %+v, want %d %d", method, path, body, is, got, status, code)
		}
	}
	check("POST", create, fields{"content": "a PLUM!"}, 400, 200000)
	check("POST", create, card, 400, 200000)
	check("POST", create, fields{"content": "see https://evil.example/plum"}, 400, 240000)
	check("PATCH", create+"/"+sent.ID, fields{"content": "plums"}, 400, 200000)
	check("POST", create+"/"+w.alice.Posts(general, "hello").ID+"/threads", fields{"name": "plums"}, 400, 200001)
	check("POST", dm, fields{"content": "a plum"}, 200, 0)
	check("POST", dm, fields{"content": "https://evil.example"}, 400, 240000)
	may := discordtest.DefaultPermissions | discordtest.ManageGuild
	w.AddGuild(discordtest.Guild{ID: guildID, Members: []string{"1001"}, BotPermissions: may})
	check("POST", create, fields{"content": "a plum"}, 200, 0)
	if all := w.FromBot(general); len(all) != 2 || all[0].Content != "a pear" {
		t.Error(w.Dump())
	}
}

func TestNonceIsEnforcedForAWhile(t *testing.T) {
	clock := discordtest.NewClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	w := newRig(t, discordtest.Options{Now: clock.Now})
	send := func(nonce string, enforce bool) wire {
		var m wire
		if status := w.call(t, "POST", "/channels/"+general+"/messages",
			fields{"content": "x", "nonce": nonce, "enforce_nonce": enforce}, &m); status != 200 {
			t.Fatalf("HTTP %d", status)
		}
		return m
	}
	first := send("n", true)
	if again := send("n", true); again.ID != first.ID || again.Nonce != "n" {
		t.Errorf("%+v, then %+v", first, again)
	}
	if other := send("n", false); other.ID == first.ID {
		t.Error("a nonce that is not enforced was")
	}
	clock.Advance(5 * time.Minute)
	if late := send("n", true); late.ID == first.ID {
		t.Error("the nonce was remembered too long")
	}
	var read wire
	if w.get(t, "/channels/"+general+"/messages/"+first.ID, &read); read.Nonce != "" {
		t.Error("a message that is read has a nonce")
	}
	if n := len(w.FromBot(general)); n != 3 {
		t.Errorf("%d messages", n)
	}
	if at := discordtest.SnowflakeTime(first.ID); !at.Equal(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the id says %s", at)
	}
}

func TestPages(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	var ids []string
	for n := range 10 {
		ids = append(ids, w.alice.Posts(general, fmt.Sprint(n)).ID)
	}
	for query, want := range map[string]string{
		"":                             "9876543210",
		"?limit=3":                     "987",
		"?limit=3&before=" + ids[5]:    "432",
		"?limit=3&after=" + ids[5]:     "876",
		"?limit=3&around=" + ids[5]:    "654",
		"?after=0&limit=2":             "10",
		"?limit=100&after=" + ids[9]:   "",
		"?limit=100&before=" + ids[0]:  "",
		"?limit=100&around=" + ids[0]:  "9876543210",
		"?limit=2&before=999999999999": "",
	} {
		var found []wire
		w.get(t, "/channels/"+general+"/messages"+query, &found)
		got := ""
		for _, m := range found {
			got += m.Content
		}
		if got != want {
			t.Errorf("%s gave %s, want %s", query, got, want)
		}
	}
}

func TestThreads(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	post := w.alice.Posts(general, "hello")
	start := "/channels/" + general + "/messages/" + post.ID + "/threads"
	var got refusal
	if status := w.call(t, "POST", start, fields{"name": "talk"}, nil); status != 201 {
		t.Errorf("HTTP %d", status)
	}
	if status := w.call(t, "POST", start, fields{"name": "talk"}, &got); status != 400 || got.Code != 160004 {
		t.Errorf("%d %+v", status, got)
	}
	w.DenyBot(general, discordtest.SendMessages) // has no effect in threads
	thread := "/channels/" + post.ID
	if status := w.call(t, "POST", thread+"/messages", fields{"content": "x"}, nil); status != 200 {
		t.Errorf("HTTP %d", status)
	}
	w.ArchiveThread(post.ID, false)
	var said wire
	w.call(t, "POST", thread+"/messages", fields{"content": "wakes it"}, &said)
	if c, _ := w.Channel(post.ID); c.Archived {
		t.Error("the thread is archived still")
	}
	w.ArchiveThread(post.ID, true)
	if status := w.call(t, "POST", thread+"/messages", fields{"content": "x"}, &got); status != 400 ||
		got.Code != 160005 {
		t.Errorf("%d %+v", status, got)
	}
	if status := w.call(t, "PATCH", thread+"/messages/"+said.ID, fields{"content": "x"}, &got); status != 400 ||
		got.Code != 50083 {
		t.Errorf("%d %+v", status, got)
	}
}

func TestRateLimits(t *testing.T) {
	now := discordtest.NewClock(time.Now())
	w := newRig(t, discordtest.Options{LimitNow: now.Now, Limits: discordtest.Limits{
		discordtest.CreateMessage: {Calls: 2, Per: 5 * time.Second},
		discordtest.GlobalLimit:   {Calls: 5, Per: time.Second},
	}})
	b := w.bot(t)
	for range 2 {
		must[*discordgo.Message](t)(b.ChannelMessageSend(general, "x"))
	}
	type reply struct {
		StatusCode int
		Header     http.Header
	}
	ask := func(channel string) (reply, string) {
		r, _ := http.NewRequestWithContext(w.ctx, "POST", w.APIURL()+"/channels/"+channel+"/messages",
			strings.NewReader(`{"content":"x"}`))
		r.Header.Set("Authorization", "Bot "+w.BotToken())
		answer, err := w.web.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		body, _ := io.ReadAll(answer.Body)
		return reply{answer.StatusCode, answer.Header}, string(body)
	}
	late, body := ask(general)
	h := late.Header
	if late.StatusCode != 429 || h.Get("X-RateLimit-Scope") != "user" || h.Get("X-RateLimit-Remaining") != "0" ||
		h.Get("X-RateLimit-Limit") != "2" ||
		h.Get("X-RateLimit-Reset-After") != "5.000" || h.Get("Retry-After") != "5" ||
		body != `{"code":0,"global":false,"message":"You are being rate limited.","retry_after":5}` {
		t.Errorf("%d %v %s", late.StatusCode, h, body)
	}
	other, _ := ask(elsewhere)
	if other.StatusCode != 200 || other.Header.Get("X-RateLimit-Bucket") != h.Get("X-RateLimit-Bucket") ||
		other.Header.Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("%d %v", other.StatusCode, other.Header)
	}
	ask(elsewhere)
	all, body := ask(elsewhere)
	if all.StatusCode != 429 || all.Header.Get("X-RateLimit-Global") != "true" ||
		all.Header.Get("X-RateLimit-Scope") != "global" || !strings.Contains(body, `"global":true`) {
		t.Errorf("%d %v %s", all.StatusCode, all.Header, body)
	}
	now.Advance(5 * time.Second)
	if again, _ := ask(general); again.StatusCode != 200 {
		t.Errorf("HTTP %d", again.StatusCode)
	}
	if n := w.InvalidRequests(); n != 2 {
		t.Errorf("%d invalid requests", n)
	}
	w.Inject(
		discordtest.Fault{
			Endpoint: discordtest.CreateMessage, Times: 1,
			Trouble: discordtest.RateLimited(1500*time.Millisecond, discordtest.ScopeShared),
		})
	if shared, body := ask(general); shared.Header.Get("X-RateLimit-Scope") != "shared" ||
		!strings.Contains(body, `"retry_after":1.5`) || w.InvalidRequests() != 2 {
		t.Errorf("%v %s, %d invalid", shared.Header, body, w.InvalidRequests())
	}
	now.Advance(10 * time.Minute)
	if n := w.InvalidRequests(); n != 0 {
		t.Errorf("%d invalid requests later", n)
	}
}

func TestTooManyInvalidRequestsGetTheAddressBanned(t *testing.T) {
	w := newRig(t, discordtest.Options{AllowPenalties: true})
	w.RevokeToken()
	handler := func() int {
		r, _ := http.NewRequestWithContext(w.ctx, "GET", w.APIURL()+"/users/@me", nil)
		answer, err := w.web.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	for range discordtest.InvalidLimit {
		handler()
	}
	if handler() != 429 || len(w.Penalties()) != 1 {
		t.Errorf("the penalties are %q", w.Penalties())
	}
}

func TestFaults(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	create := "/channels/" + general + "/messages"
	fails := func(trouble discordtest.Trouble) error {
		w.Inject(discordtest.Fault{Endpoint: "POST /channels/*/messages", Times: 1, Trouble: trouble})
		_, err := w.bot(t).ChannelMessageSend(general, "x")
		return err
	}
	if err := fails(discordtest.Cut()); err == nil || len(w.FromBot(general)) != 0 {
		t.Errorf("cut: %v, %d posted", err, len(w.FromBot(general)))
	}
	if err := fails(discordtest.AnswerLost()); err == nil || len(w.FromBot(general)) != 1 {
		t.Errorf("lost: %v, %d posted", err, len(w.FromBot(general)))
	}
	if err := fails(fakeserver.Garbled()); err == nil || len(w.FromBot(general)) != 2 {
		t.Errorf("garbled: %v, %d posted", err, len(w.FromBot(general)))
	}
	if err := fails(discordtest.ServerError(503)); err == nil || len(w.FromBot(general)) != 2 {
		t.Errorf("503: %v, %d posted", err, len(w.FromBot(general)))
	}
	held := w.Inject(
		discordtest.Fault{Endpoint: discordtest.CreateMessage, Times: 1, Trouble: discordtest.AnswerHeld()})
	sent := make(chan error, 1)
	go func() {
		_, err := w.bot(t).ChannelMessageSend(general, "held")
		sent <- err
	}()
	if _, err := w.WaitForText(w.ctx, general, "held"); err != nil {
		t.Fatal(err)
	}
	if err := w.WaitFor(w.ctx, func(*discordtest.Server) bool { return held.Waiting() == 1 }); err != nil {
		t.Fatal(err)
	}
	held.Release()
	if err := next(t, w, sent); err != nil {
		t.Error(err)
	}
	w.LagReads(1)
	var m wire
	w.call(t, "POST", create, fields{"content": "late"}, &m)
	first, second := w.get(t, create+"/"+m.ID, nil), w.get(t, create+"/"+m.ID, nil)
	if first != 404 || second != 200 {
		t.Errorf("read with %d, then %d", first, second)
	}
	calls := w.Calls(discordtest.CreateMessage)
	if last := calls[len(calls)-1]; last.Fields["content"] != "late" || last.Params["channel"] != general ||
		last.Status != 200 {
		t.Errorf("the last call is %+v", last)
	}
	if calls[0].Fault != "cut" || w.CountCalls(discordtest.CreateMessage) != len(calls) {
		t.Errorf("the first call is %+v", calls[0])
	}
}

func TestFiles(t *testing.T) {
	w := newRig(t, discordtest.Options{CDN: "https://cdn.discordapp.com"})
	post := w.alice.Posts(general, "look", discordtest.WithFiles(
		discordtest.Attachment{Name: "a.png", Data: []byte("picture"), Width: 2, Height: 1},
		discordtest.Attachment{Name: "b.png", URL: w.ForeignURL() + "/b.png"},
	))
	var m struct {
		Attachments []struct {
			URL, Filename string
			ContentType   string `json:"content_type"`
			Size          int
		}
	}
	w.get(t, "/channels/"+general+"/messages/"+post.ID, &m)
	a := m.Attachments[0]
	if !strings.HasPrefix(a.URL, "https://cdn.discordapp.com/attachments/"+general+"/") ||
		a.ContentType != "image/png" || a.Size != 7 {
		t.Errorf("the file is %+v", a)
	}
	r, _ := http.NewRequestWithContext(w.ctx, "GET", a.URL, nil)
	answer, err := w.web.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if string(data) != "picture" || answer.Header.Get("Content-Type") != "image/png" ||
		w.CountCalls(discordtest.Download) != 1 {
		t.Errorf("downloaded %q", data)
	}
	r, _ = http.NewRequestWithContext(w.ctx, "GET", m.Attachments[1].URL, nil)
	r.Header.Set("Authorization", "Bot x")
	answer, err = w.web.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if seen := w.ForeignRequests(); len(seen) != 1 || seen[0].Authorization != "Bot x" {
		t.Errorf("the foreign host saw %+v", seen)
	}
	if answer, err := w.web.Get("https://example.com/"); err == nil {
		_ = answer.Body.Close()
		t.Error("the transport left the machine")
	}
	sent := must[*discordgo.Message](t)(w.bot(t).ChannelFileSend(general, "b.txt", bytes.NewReader([]byte("text"))))
	if len(sent.Attachments) != 1 || sent.Attachments[0].Size != 4 ||
		w.Calls(discordtest.CreateMessage)[0].Files[0] != "b.txt" {
		t.Errorf("sent %+v", sent)
	}
}

func TestReaches(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	text := "<@1001> <@&" + approvers +
		"> @everyone [a](https://a.test) https://b.test <https://c.test> `@here <@1002>`"
	reach := func(more fields) string {
		body := fields{"content": text}
		for key, value := range more {
			body[key] = value
		}
		var m wire
		w.call(t, "POST", "/channels/"+general+"/messages", body, &m)
		found, _ := w.Message(general, m.ID)
		return fmt.Sprint(found.Reaches(), found.Mentions, found.Roles, found.Everyone)
	}
	open := "[{user 1001 } {role " + approvers +
		" } {everyone  } {link https://a.test a} {preview https://a.test } {preview https://b.test }] [1001] [" +
		approvers + "] false"
	if got := reach(nil); got != open {
		t.Errorf("got  %s\nwant %s", got, open)
	}
	shut := "[{link https://a.test a}] [] [] false"
	if got := reach(fields{"allowed_mentions": fields{"parse": []string{}}, "flags": 4}); got != shut {
		t.Errorf("got  %s\nwant %s", got, shut)
	}
	post := w.alice.Posts(general, "hello")
	quiet := fields{"message_id": post.ID}
	if got := reach(fields{"content": "hi", "message_reference": quiet}); got != "[{reply "+post.ID+
		" }] [1001] [] false" {
		t.Errorf("got %s", got)
	}
	if got := reach(
		fields{
			"content": "hi", "message_reference": quiet, "allowed_mentions": fields{"parse": []string{}},
		}); got != "[] [] [] false" {
		t.Errorf("got %s", got)
	}
}

func TestEscapedBracketIsNoLink(t *testing.T) {
	for text, want := range map[string]string{
		`[a](https://a.test)`: "[{link https://a.test a}]", `\[a\](https://a.test)`: "[]", `\[a](https://a.test)`: "[]",
		`[a\](https://a.test)`: "[]",
		`[a]\(https://a.test)`: "[]", `\\[a](https://a.test)`: "[{link https://a.test a}]",
		`[a\]b](https://a.test)`: "[{link https://a.test a]b}]",
		"`[a](https://a.test)`":  "[]", `[a](<https://a.test>)`: "[{link https://a.test a}]",
	} {
		if got := fmt.Sprint(
			discordtest.Message{Content: text, Flags: discordtest.FlagSuppressEmbeds}.Reaches()); got != want {
			t.Errorf("%s reaches %s, want %s", text, got, want)
		}
	}
}

func TestCommandsAreRegisteredOnce(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	path := "/applications/" + w.ApplicationID() + "/commands"
	var first, second, third struct{ ID, Version, Name string }
	w.call(t, "POST", path, fields{"name": "ask", "description": "Ask"}, &first)
	w.call(t, "POST", path, fields{"name": "ask", "description": "Ask"}, &second)
	status := w.call(t, "POST", path, fields{"name": "ask", "description": "Ask more"}, &third)
	if first != second || third.ID != first.ID || third.Version == first.Version || status != 200 ||
		fmt.Sprint(w.Commands()) != "[ask]" {
		t.Errorf("%v, %v, %v, HTTP %d", first, second, third, status)
	}
}

func TestMembersAndRoles(t *testing.T) {
	w := newRig(t, discordtest.Options{Denied: discordtest.IntentMessageContent})
	b := w.bot(t)
	bob := must[*discordgo.Member](t)(b.GuildMember(guildID, "1002"))
	if bob.User.Username != "bob" || fmt.Sprint(bob.Roles) != "["+approvers+"]" {
		t.Errorf("bob is %+v", bob)
	}
	roles := must[[]*discordgo.Role](t)(b.GuildRoles(guildID))
	if len(roles) != 3 || roles[0].ID != guildID || !roles[1].Managed || roles[1].ID != w.RoleOfBot(guildID) {
		t.Errorf("the roles are %+v", roles)
	}
	me := must[*discordgo.User](t)(b.User("@me"))
	dm := must[*discordgo.Channel](t)(b.UserChannelCreate("1001"))
	if me.ID != w.BotUserID() || !me.Bot || dm.Type != discordgo.ChannelTypeDM || dm.ID != w.DMWith("1001") {
		t.Errorf("me %+v, dm %+v", me, dm)
	}
	var app struct{ Flags int }
	w.get(t, "/applications/@me", &app)
	if app.Flags&(1<<19) != 0 || app.Flags&(1<<15) == 0 {
		t.Errorf("the flags are %b", app.Flags)
	}
	w.bob.Leaves(guildID)
	if status := w.get(t, "/guilds/"+guildID+"/members/1002", nil); status != 404 {
		t.Errorf("HTTP %d", status)
	}
}

// Without the message content intent REST shows the content of the bot's own messages and of those that mention it, and
// a webhook's message has its id. Without the permission to read the history a list is empty, and one message is
// refused.
func TestWhatAppsReadOfMessages(t *testing.T) {
	w := newRig(t, discordtest.Options{Denied: discordtest.IntentMessageContent})
	hook := w.AddUser(discordtest.User{ID: "1077", Name: "deploys", IsWebhook: true})
	post := w.alice.OpensPost(forum, "an idea", "for people")
	hook.Posts(post, w.MentionOfBot()+" done")
	w.call(t, "POST", "/channels/"+post+"/messages", fields{"content": "the answer"}, nil)
	type message struct {
		ID, Content string
		Webhook     string `json:"webhook_id"`
	}
	var all []message
	w.call(t, "GET", "/channels/"+post+"/messages", nil, &all)
	if len(all) != 3 || all[0].Content != "the answer" || all[1].Content == "" || all[1].Webhook != "1077" ||
		all[2] != (message{ID: post}) {
		t.Errorf("it reads %+v", all)
	}
	w.DenyBot(forum, discordtest.ReadMessageHistory)
	var refused refusal
	status := w.call(t, "GET", "/channels/"+post+"/messages/"+post, nil, &refused)
	w.call(t, "GET", "/channels/"+post+"/messages", nil, &all)
	if len(all) != 0 || status != 403 || refused.Code != 50013 {
		t.Errorf("without the history it reads %+v, and is refused with %d %+v", all, status, refused)
	}
}
