// Package outbound calls a chat platform and says there what gatehouse has to say: the reply to a failed event becomes
// its text with the button "Try again", whose value is sealed. A platform's own texts, limits and wire format stay in
// its adapter, which implements Drawer (how its messages look), Direct (whom it can write to) and Asker (who the bot
// is).
//
//	painter.go   draw a post as messages
//	buttons.go   a button's sealed value, and the event that a press becomes
//	likeness.go  whether a reply could be taken for a card
//	copies.go    copies of a card for approvers who can't see its conversation
//	calls.go     connections to the platform, and what an error of a call means to the outbox and to a turn
//	cache.go     remember answers of the platform, the parts of long posts, and which warnings were logged
//	health.go    whether the platform answers; ask repeatedly who the bot is; waits before another attempt
//	clock.go     the platform's clock, by its answers
//	report.go    what gatehouse doctor reports
package outbound
