// Package console is the terminal as a platform: one conversation, the conversation "console:<session>", with the person at this machine.
//
// Two ways to talk. With a terminal on both sides there is a prompt with line editing and history, a spinner while the bot works,
// and approvals as cards answered by y, n or n REASON. Otherwise (a pipe, a file, a script) one line is one message, answers are
// lines "bot> …" with the following lines of an answer indented, and a card is lines "approval> …". No line of the bot's text
// ever begins in the first column, so a text can't pretend to be a card.
//
// Order in a pipe. After a line was stored, the next one waits until Options.Idle says that the conversation has nothing left to
// do, so that a script always sees the same. The control words stop, status, cancel and help don't wait and nothing waits for
// them (law 3); new is taken in its place among the messages. At the end of the input the console waits once more and ends.
//
// What answers what. y and n belong to the card that was shown last and is not answered yet; with a prompt, to the one that stood
// last when the person began to type, so that a card that comes up under their fingers gets no answer meant for another. While a
// card is open every other line is an ordinary message; with none open so are y and n. Pasted text is never an answer or a
// control word. After a decision the next open card is named again.
//
// Events. A typed line's id is made when it is typed; a click's is approval, person and press. Nothing at a terminal arrives
// twice by itself. Where storing fails the same event is handed over again for about half a minute, the person is told, and what
// was not stored is not taken: a pipe then ends with the error, a prompt asks to send it again.
//
// Delivery is at-least-once: a terminal can't be read back, so Find always says "not there, send it", and after a crash a line
// may be printed again. A card that was printed is not printed again unchanged within one run. At the start the cards that are
// still open are shown again from the store.
//
// Text. What is printed is cleaned (see Sanitize): no escape sequence, no control character but newline and tab, bidirectional
// overrides made visible. What is typed may be anything: bytes that are no UTF-8, and NUL, become U+FFFD, and the message is
// taken; a line above the size limit is refused with a sentence, in bounded memory, and the lines after it are unharmed. The
// prompt itself holds at most 4096 characters a line; pasted lines join to one message.
//
// Goroutines. Reading a terminal can't be interrupted: when ctx ends, Run restores the terminal and returns, and the goroutine
// that reads stays behind until the input ends, which for standard input is the end of the process. It takes nothing any more.
package console
