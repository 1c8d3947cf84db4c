package storagetest

import (
	"context"
	"encoding/json"
	"reflect"
	"time"

	"gatehouse/core"
)

// Points lists the points that a wrapped store calls: two a method, "Accept.before" and "Accept.after" and so on.
func Points() []string {
	var points []string
	for m := range reflect.TypeFor[core.Store]().Methods() {
		points = append(points, m.Name+".before", m.Name+".after")
	}
	return points
}

// Failpoints wraps a store so that hit is called before and after every method: before its transaction begins, and after it is
// committed or undone but before the caller knows. A process that is killed inside hit shows what a crash there leaves.
//
// Each method is written out: one that is added to core.Store does not compile here until it has its points.
func Failpoints(s core.Store, hit func(point string)) core.Store {
	return failpoints{s: s, hit: hit}
}

type failpoints struct {
	s   core.Store
	hit func(point string)
}

// at calls the point before a method, and gives what calls the one after it.
func (p failpoints) at(method string) func() {
	p.hit(method + ".before")
	return func() { p.hit(method + ".after") }
}

func (p failpoints) Accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	defer p.at("Accept")()
	return p.s.Accept(ctx, e)
}

func (p failpoints) Register(ctx context.Context, instance string) (string, error) {
	defer p.at("Register")()
	return p.s.Register(ctx, instance)
}

func (p failpoints) Claim(ctx context.Context, r core.ClaimRequest) ([]core.Claim, error) {
	defer p.at("Claim")()
	return p.s.Claim(ctx, r)
}

func (p failpoints) Renew(ctx context.Context, c core.Claim, lease time.Duration) error {
	defer p.at("Renew")()
	return p.s.Renew(ctx, c, lease)
}

func (p failpoints) StopRequested(ctx context.Context, c core.Claim) (bool, error) {
	defer p.at("StopRequested")()
	return p.s.StopRequested(ctx, c)
}

func (p failpoints) Release(ctx context.Context, c core.Claim) error {
	defer p.at("Release")()
	return p.s.Release(ctx, c)
}

func (p failpoints) Finish(ctx context.Context, f core.Finish) error {
	defer p.at("Finish")()
	return p.s.Finish(ctx, f)
}

func (p failpoints) LoadSession(ctx context.Context, id core.SessionID, w core.Writer) (*core.SessionRecord, error) {
	defer p.at("LoadSession")()
	return p.s.LoadSession(ctx, id, w)
}

func (p failpoints) SaveSession(ctx context.Context, c core.Claim, rec *core.SessionRecord) error {
	defer p.at("SaveSession")()
	return p.s.SaveSession(ctx, c, rec)
}

func (p failpoints) LoadPaused(ctx context.Context, id core.InvocationID, signal core.SignalID) (*core.PausedRecord, error) {
	defer p.at("LoadPaused")()
	return p.s.LoadPaused(ctx, id, signal)
}

func (p failpoints) InvocationMessages(ctx context.Context, s core.SessionID, id core.InvocationID) ([]core.Message, error) {
	defer p.at("InvocationMessages")()
	return p.s.InvocationMessages(ctx, s, id)
}

func (p failpoints) ListSessions(ctx context.Context, f core.SessionFilter) ([]core.SessionSummary, error) {
	defer p.at("ListSessions")()
	return p.s.ListSessions(ctx, f)
}

func (p failpoints) DeleteSession(ctx context.Context, id core.SessionID) error {
	defer p.at("DeleteSession")()
	return p.s.DeleteSession(ctx, id)
}

func (p failpoints) BeginIntent(ctx context.Context, c core.Claim, i core.Intent) (core.IntentRecord, error) {
	defer p.at("BeginIntent")()
	return p.s.BeginIntent(ctx, c, i)
}

func (p failpoints) FinishIntent(ctx context.Context, c core.Claim, id core.ApprovalID, r core.ToolResult) error {
	defer p.at("FinishIntent")()
	return p.s.FinishIntent(ctx, c, id, r)
}

func (p failpoints) LoadIntent(ctx context.Context, id core.ApprovalID) (*core.IntentRecord, error) {
	defer p.at("LoadIntent")()
	return p.s.LoadIntent(ctx, id)
}

func (p failpoints) LoadEvidence(ctx context.Context, id core.InvocationID) (json.RawMessage, error) {
	defer p.at("LoadEvidence")()
	return p.s.LoadEvidence(ctx, id)
}

func (p failpoints) LoadApproval(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	defer p.at("LoadApproval")()
	return p.s.LoadApproval(ctx, id)
}

func (p failpoints) ListApprovals(ctx context.Context, f core.ApprovalFilter) ([]core.Approval, error) {
	defer p.at("ListApprovals")()
	return p.s.ListApprovals(ctx, f)
}

func (p failpoints) Decide(ctx context.Context, d core.Decision) (core.Decided, error) {
	defer p.at("Decide")()
	return p.s.Decide(ctx, d)
}

func (p failpoints) AuditLog(ctx context.Context, after int64, limit int) ([]core.AuditEntry, error) {
	defer p.at("AuditLog")()
	return p.s.AuditLog(ctx, after, limit)
}

func (p failpoints) AddPosts(ctx context.Context, c core.Claim, posts []core.Post) error {
	defer p.at("AddPosts")()
	return p.s.AddPosts(ctx, c, posts)
}

func (p failpoints) ClaimPosts(ctx context.Context, r core.PostRequest) ([]core.OutboxRow, error) {
	defer p.at("ClaimPosts")()
	return p.s.ClaimPosts(ctx, r)
}

func (p failpoints) SavePost(ctx context.Context, row core.OutboxRow) error {
	defer p.at("SavePost")()
	return p.s.SavePost(ctx, row)
}

func (p failpoints) ReleasePost(ctx context.Context, row core.OutboxRow, wait time.Duration) error {
	defer p.at("ReleasePost")()
	return p.s.ReleasePost(ctx, row, wait)
}

func (p failpoints) ListPosts(ctx context.Context, states []core.RowState, conversation core.ConversationID, limit int) ([]core.OutboxRow, error) {
	defer p.at("ListPosts")()
	return p.s.ListPosts(ctx, states, conversation, limit)
}

func (p failpoints) AddTask(ctx context.Context, t core.Task, wait time.Duration) error {
	defer p.at("AddTask")()
	return p.s.AddTask(ctx, t, wait)
}

func (p failpoints) ClaimTasks(ctx context.Context, limit int, lease time.Duration) ([]core.Task, error) {
	defer p.at("ClaimTasks")()
	return p.s.ClaimTasks(ctx, limit, lease)
}

func (p failpoints) EndTask(ctx context.Context, key string, wait time.Duration) error {
	defer p.at("EndTask")()
	return p.s.EndTask(ctx, key, wait)
}

func (p failpoints) Prune(ctx context.Context, age time.Duration) (int, error) {
	defer p.at("Prune")()
	return p.s.Prune(ctx, age)
}

func (p failpoints) Events(ctx context.Context, f core.EventFilter) ([]core.EventRecord, error) {
	defer p.at("Events")()
	return p.s.Events(ctx, f)
}

func (p failpoints) Queue(ctx context.Context) (core.QueueView, error) {
	defer p.at("Queue")()
	return p.s.Queue(ctx)
}

func (p failpoints) SetPaused(ctx context.Context, paused bool) error {
	defer p.at("SetPaused")()
	return p.s.SetPaused(ctx, paused)
}

func (p failpoints) Stop(ctx context.Context, conversation core.ConversationID, by core.Actor) (core.StopResult, error) {
	defer p.at("Stop")()
	return p.s.Stop(ctx, conversation, by)
}

func (p failpoints) Retry(ctx context.Context, seq int64) (core.Receipt, error) {
	defer p.at("Retry")()
	return p.s.Retry(ctx, seq)
}

func (p failpoints) Drop(ctx context.Context, seq int64) error {
	defer p.at("Drop")()
	return p.s.Drop(ctx, seq)
}

func (p failpoints) Resend(ctx context.Context, seq int64) error {
	defer p.at("Resend")()
	return p.s.Resend(ctx, seq)
}

func (p failpoints) DropPost(ctx context.Context, seq int64) error {
	defer p.at("DropPost")()
	return p.s.DropPost(ctx, seq)
}

func (p failpoints) AddNote(ctx context.Context, owner, text string) error {
	defer p.at("AddNote")()
	return p.s.AddNote(ctx, owner, text)
}

func (p failpoints) Notes(ctx context.Context, owner string) ([]string, error) {
	defer p.at("Notes")()
	return p.s.Notes(ctx, owner)
}

func (p failpoints) Close() error {
	defer p.at("Close")()
	return p.s.Close()
}

func (p failpoints) AddCopies(ctx context.Context, row core.OutboxRow, posts []core.Post) error {
	defer p.at("AddCopies")()
	return p.s.AddCopies(ctx, row, posts)
}

func (p failpoints) PutIfAbsent(ctx context.Context, name, value string) (string, error) {
	defer p.at("PutIfAbsent")()
	return p.s.PutIfAbsent(ctx, name, value)
}

func (p failpoints) Put(ctx context.Context, name, value string) error {
	defer p.at("Put")()
	return p.s.Put(ctx, name, value)
}

func (p failpoints) PutFor(ctx context.Context, name, value string, lifetime time.Duration) error {
	defer p.at("PutFor")()
	return p.s.PutFor(ctx, name, value, lifetime)
}

func (p failpoints) Get(ctx context.Context, name string) (string, error) {
	defer p.at("Get")()
	return p.s.Get(ctx, name)
}

func (p failpoints) AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (bool, error) {
	defer p.at("AcquireLease")()
	return p.s.AcquireLease(ctx, name, owner, lease)
}

func (p failpoints) TakeToken(ctx context.Context, name string, limit int, window time.Duration) (time.Duration, error) {
	defer p.at("TakeToken")()
	return p.s.TakeToken(ctx, name, limit, window)
}
