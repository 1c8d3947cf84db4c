package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

// YesFlag is the flag of every command that asks before what can't be undone.
type YesFlag struct {
	Yes bool `help:"Do it without a question."`
}

// Ask asks before what can't be undone, where a person can answer: at a terminal. Elsewhere, and with --yes, the answer
// is yes. Any answer but y is an error with exit code 1; nothing may have been changed before.
func (a *App) Ask(ctx context.Context, flag YesFlag, question string) error {
	if flag.Yes || !console.IsTerminal(a.In, a.Out) {
		return nil
	}
	fmt.Fprintf(a.Err, "%s [y/N] ", console.Sanitize(question))
	line := make(chan string, 1)
	go func() { // a read of a terminal can't be interrupted; the process ends soon after
		text, _ := bufio.NewReader(a.In).ReadString('\n') // what is cut off is no y
		line <- text
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.Err)
	case text := <-line:
		if answer := strings.ToLower(strings.TrimSpace(text)); answer == "y" || answer == "yes" {
			return nil
		}
	}
	return Exit(ExitBad, core.Errorf(core.Invalid, "Nothing was changed."))
}
