package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // for rows, which bypass the store

	"gatehouse/adapters/access"
	"gatehouse/approvals"
	"gatehouse/cmd/gatehouse/internal/admin"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/cmd/gatehouse/internal/settings"
	"gatehouse/core"
	"gatehouse/core/question"
	"gatehouse/core/tool"
	"gatehouse/storage"
)

// untold are the columns of approvals, votes and intents that no way out tells, each with the reason. Every other
// column is told somewhere, so a change of it by hand must be noticed. A new column that is in neither group fails the
// test: decide about it here.
var untold = map[string]string{
	"approvals.seq":       "the order of lists alone",
	"approvals.requester": "a filter of lists: who asked is told from the body",
	"approvals.begun": "whether its call was started is told from what the log says of that; that a turn went on " +
		"after a denial is recorded nowhere",
	"intents.progress": "never shown: where a call that has no result yet goes on. What was approved, and its " +
		"arguments, are the approval's",
	"votes.n":     "the order alone: another order of votes is noticed as other votes",
	"votes.actor": "never read: who voted is told from the body",
}

// told are the columns that are told.
var told = []string{
	"approvals.id", "approvals.invocation", "approvals.session", "approvals.conversation", "approvals.body",
	"approvals.state", "approvals.reason",
	"approvals.decided_by", "approvals.decided_at", "approvals.created_at", "approvals.deadline", "approvals.changed",
	"votes.approval", "votes.body",
	"intents.approval", "intents.invocation", "intents.tool", "intents.digest", "intents.begun_at", "intents.ended_at",
	"intents.content", "intents.category",
}

// contradictions stores one approval of each kind: one that ran, one that is open and has a vote, one that was denied,
// and an answered question.
func contradictions(t *testing.T, store *storage.Store) {
	t.Helper()
	executed(t, store)
	bob, cleo := core.Actor{ID: "slack:U2BOB", Name: "Bob"}, core.Actor{ID: "slack:U3CLEO", Name: "Cleo"}
	q, err := question.New("Which size?", nil)
	noErr(t, err)
	open := func(id core.ApprovalID, asked *question.Question, votes ...core.Vote) {
		t.Helper()
		call := core.Call{
			Tool: "external.local.deploy", Arguments: json.RawMessage(`{"version":7}`), Summary: "Deploy version 7.",
			Risk: core.Dangerous,
		}
		if call.Digest, err = tool.Digest(call.Tool, call.Arguments); err != nil {
			t.Fatal(err)
		}
		a := core.Approval{
			ID: id, Conversation: "external:openharness:local", Address: core.Address{Platform: core.CallbackPlatform},
			Call: call, Question: asked, State: core.Open,
			External:  &core.External{Request: "r", Callback: "https://example.org/hook"},
			Requester: core.Actor{ID: "openharness:local", Name: "local", Local: true},
			Rule: core.Rule{
				Name: "deployments", Verdict: core.VerdictAsk, Approvers: []string{bob.ID, cleo.ID}, Quorum: 2,
				Timeout: 1e15, Why: "It is production.", People: map[string]string{bob.ID: "bob"},
			},
		}
		if _, _, err := store.OpenExternal(t.Context(), a, nil, 9); err != nil {
			t.Fatal(err)
		}
		for i := range votes {
			if _, err := store.Decide(t.Context(), core.Decision{Approval: id, Vote: &votes[i]}); err != nil {
				t.Fatal(err)
			}
		}
	}
	approves := core.Vote{Actor: bob, Choice: core.Approve, Reason: "it was tested"}
	open("ap-open", nil, approves)
	open("ap-denied", nil, approves, core.Vote{Actor: cleo, Choice: core.Deny, Reason: "not on a Friday"})
	open("ap-asked", &q, core.Vote{Actor: bob, Choice: core.Answer, Answer: json.RawMessage(`"large"`)})
}

// waysOut asks for an approval in every way that tells of one.
type waysOut struct {
	ctx   context.Context
	store *storage.Store
	http  http.Handler
	cfg   settings.Config
}

func newWaysOut(t *testing.T, store *storage.Store) waysOut {
	gate := access.New(access.Options{Signer: store.Signer()})
	w := waysOut{ctx: t.Context(), store: store}
	parts := newShared(w.cfg, store, slog.New(slog.DiscardHandler))
	mux := http.NewServeMux()
	for pattern, h := range newPages(parts, gate, nil).Routes() {
		mux.Handle(pattern, h)
	}
	for pattern, h := range newAgents(t.Context(), parts, gate, nil).Routes() {
		mux.Handle(pattern, h)
	}
	w.http = mux
	return w
}

// passing is what differs each time: the tokens of forms, and how long ago something was.
var passing = regexp.MustCompile(`name="csrf" value="[^"]*"|data-now="[^"]*"|>[^<]*</time>`)

func (w waysOut) get(method, path, body string) string {
	r := httptest.NewRequest(method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:40000"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer := httptest.NewRecorder()
	w.http.ServeHTTP(answer, r)
	return passing.ReplaceAllString(answer.Body.String(), "")
}

func (w waysOut) command(run func(a *cli.App) error) string {
	var out bytes.Buffer
	if err := run(&cli.App{Stdio: cli.Stdio{Out: &out, Err: io.Discard}}); err != nil {
		return cli.Explain(err)
	}
	return out.String()
}

func orError(text []byte, err error) string {
	if err != nil {
		return "error: " + core.MessageOf(err) + fmt.Sprint(errors.Unwrap(err))
	}
	return string(text)
}

// all asks in every way. A decision of an open approval would change it, so it is asked for only with decide.
func (w waysOut) all(id core.ApprovalID, decide bool) map[string]string {
	card, err := approvals.NewService(w.store, w.store).Card(w.ctx, id, false)
	text, _ := json.Marshal(card)
	body, bodyErr := newCallbacks(w.cfg, w.store).Body(w.ctx, id)
	var c admin.Approvals
	c.Show.ID, c.Show.JSON, c.List.JSON = string(id), true, true
	plain := c
	plain.Show.JSON, plain.List.JSON = false, false
	ways := map[string]string{
		"the card": orError(text, err), "the callback, with its proof": orError(body, bodyErr),
		"the page": w.get("GET", "/approvals/"+string(id), ""), "the page of all": w.get("GET", "/approvals", ""),
		"GET /v1/approvals/ID": w.get("GET", "/v1/approvals/"+string(id), ""),
		"MCP": w.get("POST", "/mcp",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"check_approval","arguments":{"id":"`+
				string(id)+`"}}}`),
		"show":        w.command(func(a *cli.App) error { return plain.Show.Run(w.ctx, a, w.store) }),
		"show --json": w.command(func(a *cli.App) error { return c.Show.Run(w.ctx, a, w.store) }),
		"list":        w.command(func(a *cli.App) error { return plain.List.Run(w.ctx, a, w.store) }),
		"list --json": w.command(func(a *cli.App) error { return c.List.Run(w.ctx, a, w.store) }),
	}
	for _, list := range []string{"the page of all", "list", "list --json"} { // their order is none of their truth
		lines := strings.Split(strings.ReplaceAll(ways[list], ",\n", "\n"), "\n")
		slices.Sort(lines)
		ways[list] = strings.Join(lines, "\n")
	}
	if decide {
		vote := core.Vote{Actor: core.Actor{ID: "slack:U3CLEO", Name: "Cleo"}, Choice: core.Approve}
		_, err := w.store.Decide(w.ctx, core.Decision{Approval: id, Vote: &vote})
		ways["a decision"] = fmt.Sprint("error: ", core.MessageOf(err))
	}
	return ways
}

// honest reports whether an answer is no statement about the approval but that it is contradicted, is gone, or can't be
// read.
func honest(answer string) bool {
	for _, words := range []string{
		"audit log contradicts", "is not the one that was asked for", "There is no", "not_found", "can&#39;t be",
		"can't be", "could not be", "could not do this now",
	} {
		if strings.Contains(answer, words) {
			return true
		}
	}
	return false
}

// change is a value of one column of a row, or of a part of its JSON, that is changed by hand.
type change struct {
	what          string // "approvals.state to denied"
	column        string // "approvals.state"
	set, undo     string
	value, before any
}

// changesOf returns changes of every column of the rows of an approval, as the database's catalogue names the columns.
func changesOf(t *testing.T, db *sql.DB, catalogue string, id core.ApprovalID) (all []change) {
	t.Helper()
	for table, key := range map[string]string{"approvals": "id", "votes": "approval", "intents": "approval"} {
		columns := columnsOf(t, db, catalogue, table)
		for _, row := range rowsOf(t, db,
			fmt.Sprintf(`select %s from %s where %s = '%s'`, strings.Join(columns, ", "), table, key, id),
			len(columns)) {
			for i, column := range columns {
				where, moved := fmt.Sprintf(`%s = '%s'`, key, id), ""
				if n := slices.Index(columns, "n"); n >= 0 {
					where += fmt.Sprintf(` and n = %v`, row[n])
				}
				for what, value := range changed(column, row[i]) {
					if moved = where; column == key || column == "n" { // then the row is found by the new value
						moved = strings.Replace(where, fmt.Sprintf(`%s = `, column)+literal(row[i]),
							fmt.Sprintf(`%s = `, column)+literal(value), 1)
					}
					all = append(all, change{
						what: table + "." + column + what, column: table + "." + column, value: value, before: row[i],
						set:  fmt.Sprintf(`update %s set %s = $1 where %s`, table, column, where),
						undo: fmt.Sprintf(`update %s set %s = $1 where %s`, table, column, moved),
					})
				}
			}
		}
	}
	return all
}

func literal(v any) string {
	if text, ok := v.(string); ok {
		return "'" + text + "'"
	}
	return fmt.Sprint(v)
}

func columnsOf(t *testing.T, db *sql.DB, catalogue, table string) (columns []string) {
	t.Helper()
	for _, row := range rowsOf(t, db, fmt.Sprintf(catalogue, table), 1) {
		columns = append(columns, fmt.Sprint(row[0]))
	}
	return columns
}

func rowsOf(t *testing.T, db *sql.DB, query string, columns int) (all [][]any) {
	t.Helper()
	rows, err := db.Query(query)
	noErr(t, err)
	defer rows.Close()
	for rows.Next() {
		row, to := make([]any, columns), make([]any, columns)
		for i := range row {
			to[i] = &row[i]
		}
		noErr(t, rows.Scan(to...))
		all = append(all, row)
	}
	noErr(t, rows.Err())
	return all
}

// changed returns other values of a column, by what is said of them.
func changed(column string, v any) map[string]any {
	all := map[string]any{}
	switch v := v.(type) {
	case bool:
		all[" turned"] = !v
	case int64:
		all[" later"] = v + 1e9
		if column == "begun" {
			all = map[string]any{" turned": 1 - v}
		}
	case string:
		var parsed any
		switch {
		case column == "state":
			for _, s := range []core.ApprovalState{
				core.Open, core.Approved, core.Denied, core.Expired, core.Cancelled, core.Answered,
			} {
				if string(s) != v {
					all[" to "+string(s)] = string(s)
				}
			}
		case column == "content":
			all[" with more"] = strings.TrimSuffix(v, `"`) + `x"`
		case json.Unmarshal([]byte(v), &parsed) == nil:
			leaves(parsed, "", func(path string, set func(any), leaf any) {
				set(other(leaf))
				text, _ := json.Marshal(parsed)
				set(leaf)
				all[" at "+path] = string(text)
			}, func(any) {})
		default:
			all[" with more"] = v + "x"
		}
	}
	return all
}

func other(leaf any) any {
	switch v := leaf.(type) {
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.Add(time.Second).Format(time.RFC3339Nano)
		}
		return v + "x"
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return "x"
}

// leaves visits the values in JSON that have no parts.
func leaves(v any, path string, visit func(path string, set func(any), leaf any), set func(any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			leaves(v[k], path+"/"+k, visit, func(x any) { v[k] = x })
		}
	case []any:
		for i := range v {
			leaves(v[i], fmt.Sprint(path, "/", i), visit, func(x any) { v[i] = x })
		}
	default:
		visit(path, set, v)
	}
}

// TestNothingIsToldThatTheAuditLogContradicts: who can write the tables, but has no secret key, changes any column of
// an approval, its votes or its intent. No card, page, answer, callback, proof, command or decision tells the changed
// value, and each column that is told is noticed.
func TestNothingIsToldThatTheAuditLogContradicts(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		url := e.make(t)
		store, err := storage.Open(t.Context(), url, storage.Options{Signer: signerOf(t, firstKey)})
		noErr(t, err)
		defer store.Close()
		contradictions(t, store)
		db, catalogue := attacker(t, url)
		for _, table := range []string{"approvals", "votes", "intents"} {
			for _, c := range columnsOf(t, db, catalogue, table) {
				if _, left := untold[table+"."+c]; left == slices.Contains(told, table+"."+c) {
					t.Errorf("the column %s.%s is new: decide whether a change of it must be noticed", table, c)
				}
			}
		}
		w, noticed := newWaysOut(t, store), map[string]bool{}
		for _, id := range []core.ApprovalID{"ap-1", "ap-open", "ap-denied", "ap-asked"} {
			before, changed := w.all(id, id != "ap-open"), map[string]bool{}
			for _, c := range changesOf(t, db, catalogue, id) {
				if !wide(true, !changed[c.column]) {
					continue // a column's changes come in any order
				}
				changed[c.column] = true
				_, left := untold[c.column]
				byHand(t, db, c.set, c.value)
				after := w.all(id, id != "ap-open" || !left)
				faults := verified(t, store, store.Signer(), "").Faults
				byHand(t, db, c.undo, c.before)
				for way, answer := range after {
					if answer != before[way] && !honest(answer) {
						t.Errorf("%s of %s: %s tells it:\n%s\nbefore, it told\n%s", c.what, id, way, answer,
							before[way])
					}
				}
				if !left && !honest(after["the card"]) {
					t.Errorf("%s of %s: the card does not notice it", c.what, id)
				}
				if !left && len(faults) == 0 {
					t.Errorf("%s of %s: the check of the audit log does not notice it", c.what, id)
				}
				noticed[c.column] = true
			}
			after := w.all(id, id != "ap-open")
			for way, answer := range after {
				if answer != before[way] {
					t.Fatalf("%s was not put back: %s tells\n%s\nbefore, it told\n%s", id, way, answer, before[way])
				}
			}
		}
		for _, c := range told {
			if !noticed[c] {
				t.Errorf("%s was never changed", c)
			}
		}
		if faults := verified(t, store, store.Signer(), "").Faults; len(faults) > 0 {
			t.Errorf("at last the audit log has faults: %q", faults)
		}
	})
}

func byHand(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	result, err := db.Exec(statement, args...)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	if n, _ := result.RowsAffected(); n != 1 {
		t.Fatalf("%s: %d rows", statement, n)
	}
}

// attacker opens a database past the store, without its constraints. catalogue is the query for the columns of a table.
func attacker(t *testing.T, url string) (db *sql.DB, catalogue string) {
	t.Helper()
	driver, source := "pgx", url
	catalogue = `select column_name from information_schema.columns where table_schema = current_schema() and ` +
		`table_name = '%s' order by ordinal_position`
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, source = "sqlite3", file+"?_busy_timeout=10000"
		catalogue = `select name from pragma_table_info('%s') order by cid`
	}
	db, err := sql.Open(driver, source)
	noErr(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if driver == "pgx" {
		if _, err := db.Exec(`set session_replication_role = replica`); err != nil { // no foreign keys
			t.Fatal(err)
		}
	}
	return db, catalogue
}
