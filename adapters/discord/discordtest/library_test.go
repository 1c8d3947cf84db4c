package discordtest_test

import (
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/discordtest"
)

func TestDiscordgoReceivesAndReplies(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	heard := make(chan *discordgo.MessageCreate, 10)
	guilds := make(chan *discordgo.GuildCreate, 1)
	b := w.connected(t, func(b *discordgo.Session) {
		b.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { heard <- m })
		b.AddHandler(func(_ *discordgo.Session, g *discordgo.GuildCreate) { guilds <- g })
	})
	if g := next(t, w, guilds); g.Name != "town" || len(g.Channels) != 3 {
		t.Fatalf("the guild is %s with %d channels", g.Name, len(g.Channels))
	}
	post := w.alice.Posts(general, w.MentionOfBot()+" add milk")
	m := next(t, w, heard)
	if m.ID != post.ID || m.Author.Username != "alice" || m.GuildID != guildID || len(m.Mentions) != 1 ||
		m.Mentions[0].ID != w.BotUserID() {
		t.Fatalf("heard %+v", m.Message)
	}
	thread := must[*discordgo.Channel](t)(b.MessageThreadStart(general, post.ID, "add milk", 60))
	if thread.ID != post.ID {
		t.Errorf("the thread's id is %s, the message's %s", thread.ID, post.ID)
	}
	if m := next(t, w, heard); m.Type != discordgo.MessageTypeThreadStarterMessage || m.ChannelID != thread.ID {
		t.Errorf("the thread began with %+v", m.Message)
	}
	reply := must[*discordgo.Message](t)(b.ChannelMessageSendComplex(thread.ID, &discordgo.MessageSend{
		Content: "milk it is", AllowedMentions: &discordgo.MessageAllowedMentions{},
		Flags: discordgo.MessageFlagsSuppressEmbeds,
		Components: []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{
			discordgo.Button{Label: "Approve", CustomID: "yes", Style: discordgo.SuccessButton},
			discordgo.Button{Label: "Deny", CustomID: "no", Style: discordgo.DangerButton},
		}}},
	}))
	if echo := next(t, w, heard); echo.ID != reply.ID || echo.Author.ID != w.BotUserID() || !echo.Author.Bot {
		t.Errorf("the echo is %+v", echo.Message)
	}
	found, err := w.WaitForText(w.ctx, thread.ID, "milk it is")
	if err != nil || len(found.Reaches()) != 0 || !strings.Contains(string(found.Allowed), "parse") {
		t.Errorf("found %+v, %v", found, err)
	}
	edited := must[*discordgo.Message](t)(b.ChannelMessageEdit(thread.ID, reply.ID, "milk it was"))
	if edited.EditedTimestamp == nil {
		t.Error("the edit left no time")
	}
	if err := b.ChannelTyping(thread.ID); err != nil {
		t.Error(err)
	}
	all := must[[]*discordgo.Message](t)(b.ChannelMessages(thread.ID, 10, "", "", ""))
	if len(all) != 2 || all[0].ID != reply.ID || all[1].Type != discordgo.MessageTypeThreadStarterMessage {
		t.Errorf("the thread holds %d messages", len(all))
	}
	const want = `channel 3000000000000000001 general
  id1 alice: <@900000000000000002> add milk
  thread id1 add milk
    id2 gatehouse: milk it was (edited)
      [Approve] [Deny]
channel 3000000000000000002 elsewhere
forum 3000000000000000003 forum
`
	if got := w.Dump(); got != want {
		t.Errorf("the dump is\n%s\nwant\n%s", got, want)
	}
}

func TestDiscordgoResumesAtTheResumeAddress(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	heard := make(chan string, 10)
	w.connected(t, func(b *discordgo.Session) {
		b.AddHandler(func(_ *discordgo.Session, m *discordgo.MessageCreate) { heard <- m.Content })
	})
	w.alice.Posts(general, "zero")
	if zero := next(t, w, heard); zero != "zero" {
		t.Errorf("heard %q", zero)
	}
	w.RefuseConnections(true)
	w.ResetAll()
	w.alice.Posts(general, "one")
	w.alice.Posts(general, "two")
	w.RefuseConnections(false)
	if one, two := next(t, w, heard), next(t, w, heard); one != "one" || two != "two" {
		t.Errorf("heard %q and %q", one, two)
	}
	if err := w.WaitForSessions(w.ctx, 1); err != nil {
		t.Fatal(err)
	}
	resumes := w.Resumes()
	if len(resumes) != 1 || !resumes[0].Proper || resumes[0].Replayed != 2 || len(w.Identifies()) != 1 {
		t.Errorf("the resumes are %+v, the identifies %+v", resumes, w.Identifies())
	}
}

func TestDiscordgoAnswersAPress(t *testing.T) {
	w := newRig(t, discordtest.Options{})
	b := w.connected(t, func(b *discordgo.Session) {
		b.AddHandler(func(b *discordgo.Session, i *discordgo.InteractionCreate) {
			var err error
			switch i.Type {
			case discordgo.InteractionMessageComponent:
				err = b.InteractionRespond(i.Interaction,
					&discordgo.InteractionResponse{
						Type: discordgo.InteractionResponseModal, Data: &discordgo.InteractionResponseData{
							CustomID: "why", Title: "Why?",
							Components: []discordgo.MessageComponent{discordgo.ActionsRow{
								Components: []discordgo.MessageComponent{discordgo.TextInput{
									CustomID: "reason", Label: "Reason", Style: discordgo.TextInputParagraph,
								}},
							}},
						},
					})
			case discordgo.InteractionModalSubmit:
				row, _ := i.ModalSubmitData().Components[0].(*discordgo.ActionsRow)
				input, _ := row.Components[0].(*discordgo.TextInput)
				err = b.InteractionRespond(i.Interaction,
					&discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource,
						Data: &discordgo.InteractionResponseData{Flags: discordgo.MessageFlagsEphemeral}})
				if err == nil {
					text := "noted: " + input.Value
					_, err = b.InteractionResponseEdit(i.Interaction, &discordgo.WebhookEdit{Content: &text})
				}
			case discordgo.InteractionApplicationCommand:
				err = b.InteractionRespond(i.Interaction,
					&discordgo.InteractionResponse{Type: discordgo.InteractionResponseChannelMessageWithSource,
						Data: &discordgo.InteractionResponseData{
							Content: "asked: " + i.ApplicationCommandData().Options[0].StringValue(),
						}})
			}
			if err != nil {
				t.Error(err)
			}
		})
	})
	card := must[*discordgo.Message](t)(
		b.ChannelMessageSendComplex(general,
			&discordgo.MessageSend{Content: "sure?", Components: []discordgo.MessageComponent{
				discordgo.ActionsRow{Components: []discordgo.MessageComponent{discordgo.Button{
					Label: "Deny", CustomID: "no", Style: discordgo.DangerButton,
				}}},
			}}))
	if err := w.bob.Clicks(general, card.ID, "Deny").Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	must[discordtest.Modal](t)(w.WaitForModal(w.ctx, w.bob.ID))
	submitted := w.bob.Submits(map[string]string{"Reason": "too dear"})
	if _, err := w.WaitForEphemeral(w.ctx, general, w.bob.ID, "noted: too dear"); err != nil {
		t.Fatal(err)
	}
	if s := submitted.State(); s.Answered != discordtest.DeferredReply || s.Failed != "" {
		t.Errorf("the submission is %+v", s)
	}
	must[*discordgo.ApplicationCommand](t)(
		b.ApplicationCommandCreate(w.ApplicationID(), "", &discordgo.ApplicationCommand{
			Name: "ask", Description: "Ask me",
			Options: []*discordgo.ApplicationCommandOption{{
				Type: discordgo.ApplicationCommandOptionString, Name: "what", Description: "What", Required: true,
			}},
		}))
	asked := w.alice.Runs(general, "/ask why not")
	if err := asked.Wait(w.ctx); err != nil {
		t.Fatal(err)
	}
	if m, there := asked.Shown(); !there || m.Content != "asked: why not" || m.Type != discordtest.TypeCommand {
		t.Errorf("shown is %+v", m)
	}
}
