package slack_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/slack/internal/doctor"
	"gatehouse/adapters/slack/slacktest"
)

// methodOf returns the Web API methods behind the library's calls. Those of freeCalls need no scope of the bot's token.
var methodOf = map[string]string{
	"PostMessageContext": "chat.postMessage", "PostEphemeralContext": "chat.postEphemeral",
	"UpdateMessageContext": "chat.update", "DeleteMessageContext": "chat.delete",
	"GetConversationHistoryContext": "conversations.history", "GetConversationRepliesContext": "conversations.replies",
	"GetUsersInConversationContext": "conversations.members", "GetConversationInfoContext": "conversations.info",
	"GetConversationsForUserContext": "users.conversations",
	"OpenConversationContext":        "conversations.open", "GetUserInfoContext": "users.info",
	"GetBotInfoContext":          "bots.info",
	"GetUserGroupMembersContext": "usergroups.users.list", "GetUserGroupsContext": "usergroups.list",
	"AddReactionContext": "reactions.add", "RemoveReactionContext": "reactions.remove",
	"GetFileInfoContext":               "files.info",
	"SetAssistantThreadsStatusContext": "assistant.threads.setStatus",
}

// the last takes the app's token
var freeCalls = []string{"AuthTestContext", "GetPermalinkContext", "OpenViewContext", "StartSocketModeContext"}

// beside are the scopes that no call of the library needs: those of events, downloads and commands.
var beside = []string{"app_mentions:read", "files:read", "commands"}

// TestScopesAreThoseOfTheCalls reads the adapter's own code: each call to Slack must be in the table of scopes, and
// each scope of the table must have a call in the code.
func TestScopesAreThoseOfTheCalls(t *testing.T) {
	made := map[string]bool{}
	for _, call := range apiCalls(t) {
		method := methodOf[call]
		if method == "" && !slices.Contains(freeCalls, call) {
			t.Errorf("the code calls %s, of which this test does not know what scope it needs", call)
		}
		made[method] = method != ""
	}
	tabled := map[string]bool{}
	for _, s := range doctor.Scopes {
		if s.For == "" || s.Without == "" {
			t.Errorf("%s does not say what it is for", s.Name)
		}
		for _, method := range s.Calls {
			tabled[method] = true
			if !made[method] {
				t.Errorf("%s is asked for because of %s, which is never called", s.Name, method)
			}
		}
		if len(s.Calls) == 0 && !slices.Contains(beside, s.Name) {
			t.Errorf("%s is asked for, and nothing needs it", s.Name)
		}
		if !slices.Contains(slacktest.AllScopes, s.Name) {
			t.Errorf("the fake does not know %s", s.Name)
		}
	}
	for method, yes := range made {
		if yes && !tabled[method] {
			t.Errorf("%s is called, and no scope is asked for because of it", method)
		}
	}
}

// apiCalls are the methods that the code calls on anything named api.
func apiCalls(t *testing.T) []string {
	t.Helper()
	var files, found []string
	for _, pattern := range []string{"*.go", "internal/*/*.go"} {
		matches, err := fs.Glob(os.DirFS("."), pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, matches...)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if method, ok := n.(*ast.SelectorExpr); ok {
				if on, ok := method.X.(*ast.SelectorExpr); ok && on.Sel.Name == "api" {
					found = append(found, method.Sel.Name)
				}
			}
			return true
		})
	}
	if len(found) < 10 {
		t.Fatalf("only %v are called; does this test still read the code?", found)
	}
	return found
}
