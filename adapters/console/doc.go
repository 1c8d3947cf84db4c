// Package console is the terminal as a platform. It has one conversation, "console:<session>", with the person at this
// machine.
//
// Modes. If input and output are terminals, there is a prompt with line editing and history, a greeting, a spinner that
// says which tool runs and for how long and shows the end of what is being written, and approvals as cards answered
// with y, n or n REASON. Lines are broken between words at the terminal's width; a reply's Markdown is drawn, without
// colours with its marks; gatehouse's own sentences begin with "gatehouse>". Otherwise (a pipe, a file, a script) each
// line is a message, answers are lines "bot> …" whose further lines are indented, and cards are lines "approval> …" or
// "question> …". No line of the bot's text begins in the first column, so a text can't imitate a card; but an address
// that is longer than a line is broken by the terminal itself, which can then open it.
//
// Order in a pipe. After a line is stored, the next one waits until Options.Work reports that the conversation has
// nothing left to do, so that a script always gives the same output. The control words stop, status, cancel and help do
// not wait, and nothing waits for them (law 3), but for a status that prints cards of earlier; new is processed in
// order with the messages. At the end of the input the console waits once more, then ends.
//
// Answers. y and n, or yes and no, answer the card that was shown last and has no answer yet. At a prompt they answer
// the card that was the last one when the person began to type, so that a card that appears while they type does not
// get an answer meant for another. While a card is open every other line is a message; without an open card y and n are
// messages too. Pasted text is never an answer or a control word. After a decision the next open card is named again.
// With several open approvals a prompt takes no answer that names none: it lists them, and "y 01a21fd0" decides one. In
// a pipe, too, an answer may name one; without a name it is for the last, but the word approve, which what is dangerous
// needs, then decides nothing: they are listed.
//
// Questions. A question is lines "question> …": its text, its options by number, and what can be typed. The next line
// is the answer, whatever it says, unless it is a control word or the question is for somebody else: an option's number
// or title, a number, a text. What does not fit is told, and asked for again. The fields of a form are asked for one
// after the other, and "-" leaves one out that may be left out; instead, one line of JSON answers the whole form:
// {"size":"m","count":3}. Pasted text answers only what asks for a text. Who wants to say something else first
// withdraws the question with cancel. An answer that somebody else was faster with is told, and who was faster.
//
// Events. The id of a line's event is made when the line is typed; that of a click is made of approval, person and
// press (press.go). A terminal sends nothing twice. If storing fails, the console prints that and submits the same
// event again for about half a minute. If it still fails, a pipe ends with the error and a prompt asks the person to
// send the line again.
//
// Delivery is at-least-once: a terminal can't be read back, so Find always reports "not there, send it", and after a
// crash a line may be printed twice. An unchanged card is not printed again within one run. At the start the open
// questions are printed from the store, and one line about open approvals: the next line is no answer to them. The
// command /status prints their cards.
//
// Text. Output is sanitized (see Sanitize). Input may be anything: bytes that are not UTF-8, and NUL, become U+FFFD. A
// line above the size limit is refused in bounded memory, and the lines after it are not affected. The prompt holds at
// most 4096 characters a line; pasted lines are joined to one message. A line that the end of the input cuts off at a
// prompt is discarded.
//
// Ctrl-C at a prompt. The first one stops the running turn, the second one leaves. Without a running turn the first one
// discards what was typed, and leaves if that is nothing.
//
// Decision, 2026-11: the prompt is drawn by ergochat/readline. golang.org/x/term counts every character as one column,
// so its line breaks with wide characters and emoji, and it can't tell Ctrl-C from the end of the input. editor.go says
// what is done around the library.
//
// Goroutines. Reading a terminal can't be interrupted. When ctx ends, Run restores the terminal and returns; the
// goroutine that reads the terminal stays until the input ends, which for standard input is the end of the process, and
// what it reads is discarded.
package console
