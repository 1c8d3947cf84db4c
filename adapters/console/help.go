package console

// Help says what can be typed at the console besides messages. It is the answer to /help, where no other text is
// configured.
const Help = `Everything is a message to the bot, but for these lines:
/new      starts a new conversation
/stop     stops the running turn
/status   shows what is waiting
/cancel   cancels open approvals and questions
` + wordAgain + `    asks again for what expired
` + wordForget + `   stops what is remembered
/help     shows this list
/quit     leaves
While a card is open:
y         approves it; what is dangerous, or not shown whole, needs the word approve
n         denies it
n REASON  denies it and says why
y ID      approves this one where several are open, as n ID denies it
While a question is open, the next line answers it.`
