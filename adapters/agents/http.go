package agents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"mime"
	"net/http"
	"strconv"
	"time"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/intake"
	"gatehouse/core"
	"gatehouse/core/inflight"
	"gatehouse/core/strictjson"
)

// Routes are the handlers by their patterns of net/http's ServeMux.
func (o Options) Routes() map[string]http.Handler {
	o.waits = &waits{most: cmp.Or(o.Waiting, 500), now: map[string]int{}}
	return map[string]http.Handler{
		"POST /v1/approvals":        o.handle(o.create),
		"GET /v1/approvals/{id}":    o.handle(o.show),
		"DELETE /v1/approvals/{id}": o.handle(o.cancel),
		"GET /v1/openapi.json":      http.HandlerFunc(serveDescription),
		"/mcp":                      o.mcpHandler(),
	}
}

// answerTime is how long writing an answer may take.
const answerTime = 10 * time.Second

func (o Options) handle(
	serve func(w http.ResponseWriter, r *http.Request, who access.Person) (status int, s State, err error),
) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := o.admit(r)
		if err != nil {
			writeFault(w, err)
			return
		}
		status, s, err := serve(w, r, who)
		if err != nil {
			if code, _ := faultOf(err); code == http.StatusInternalServerError && r.Context().Err() == nil {
				o.Log.ErrorContext(r.Context(), "a request for an approval failed", "principal", who.Name, "err", err)
			}
			writeFault(w, err)
			return
		}
		writeJSON(w, status, s)
	})
}

// admit says who makes a request, which holds memory on their behalf.
func (o Options) admit(r *http.Request) (access.Person, error) {
	who, err := o.Gate.Identify(r)
	if err != nil {
		return who, err
	}
	hold := inflight.Of(r.Context())
	hold.As(inflight.People, who.Actor.ID)
	if !hold.Take(answerWeight) {
		return who, intake.ErrFull
	}
	if err = o.Gate.SameSite(r); err == nil && r.Method != http.MethodGet {
		err = o.Gate.MadeFor(who, access.PageOf(r))
	}
	return who, err
}

// answerWeight is what an answer is taken to hold: an approval, whose arguments have 256 KiB at most, is read again
// and again while it is waited for.
const answerWeight = 32 << 10

// taken is how a body is read.
var taken = intake.Body{Most: MaxBody, Within: 10 * time.Second, Weight: 8}

func (o Options) create(w http.ResponseWriter, r *http.Request, who access.Person) (int, State, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return 0, State{}, core.Errorf(core.Invalid, "The request must be JSON: send Content-Type: application/json.")
	}
	body, err := taken.JSON(w, r)
	if err != nil {
		return 0, State{}, err
	}
	a, err := readAsk(body)
	if err != nil {
		return 0, State{}, err
	}
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) > 1 {
		return 0, State{}, core.Errorf(core.Invalid, "Send one Idempotency-Key.")
	}
	key := ""
	if len(keys) == 1 {
		if key = keys[0]; key == "" {
			return 0, State{}, core.Errorf(core.Invalid, "The Idempotency-Key is empty.")
		}
	}
	s, created, err := o.doorOf(who).ask(r.Context(), key, a)
	if err != nil {
		return 0, s, err
	}
	w.Header().Set("Location", o.Gate.At("/v1/approvals/"+string(s.ID)))
	if created {
		return http.StatusCreated, s, nil
	}
	return http.StatusOK, s, nil
}

// askKeys are the members of a request.
var askKeys = map[string]strictjson.Kind{
	"action": strictjson.String, "summary": strictjson.String, "arguments": strictjson.Object,
	"risk": strictjson.String, "expires": strictjson.String,
	"callback_url": strictjson.String, "question": strictjson.String, "schema": strictjson.Object,
	"of": strictjson.Array,
}

// readAsk reads a request strictly: an unknown member may be one that its sender relies on.
func readAsk(body []byte) (a Ask, err error) {
	v, err := strictjson.Parse(body)
	switch {
	case err != nil:
		return a, core.Wrap(core.Invalid, err, "The request is not valid JSON: %s.", err)
	case v.Kind != strictjson.Object:
		return a, core.Errorf(core.Invalid, "The request must be a JSON object.")
	}
	for _, m := range v.Members {
		switch kind, known := askKeys[m.Key]; {
		case !known:
			return a, core.Errorf(core.Invalid, "There is no member %.40q in a request.", m.Key)
		case m.Value.Kind != kind:
			return a, core.Errorf(core.Invalid, "%s must be of the type %s.", m.Key, kind)
		}
	}
	if err := json.Unmarshal(body, &a); err != nil {
		return a, core.Wrap(core.Invalid, err, "of must be a list of texts.")
	}
	return a, nil
}

func (o Options) show(w http.ResponseWriter, r *http.Request, who access.Person) (int, State, error) {
	query, err := access.Query(r, "wait")
	if err != nil {
		return 0, State{}, core.Errorf(core.Invalid, "%s", err)
	}
	wait, err := waitOf(query.Get("wait"))
	if err != nil {
		return 0, State{}, err
	}
	// fails only where there is no connection
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + answerTime))
	s, err := o.doorOf(who).state(r.Context(), core.ApprovalID(r.PathValue("id")), wait)
	return http.StatusOK, s, err
}

// waitOf reads how long an answer may be waited for: a duration, or a number of seconds.
func waitOf(text string) (time.Duration, error) {
	if _, err := strconv.Atoi(text); err == nil || text == "" {
		text = cmp.Or(text, "0") + "s"
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > MaxWait {
		return 0, core.Errorf(core.Invalid, "wait must be a time from 0s to %.0fs, such as 30s.", MaxWait.Seconds())
	}
	return wait, nil
}

func (o Options) cancel(_ http.ResponseWriter, r *http.Request, who access.Person) (int, State, error) {
	s, err := o.doorOf(who).withdraw(r.Context(), core.ApprovalID(r.PathValue("id")))
	return http.StatusOK, s, err
}

// Fault is the body of an answer that refuses a request.
type Fault struct {
	Error FaultDetail `json:"error"`
}

// FaultDetail says why: a word for programs, and a sentence that says what to do.
type FaultDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// statuses are the statuses of HTTP for categories; any other is 500, and nothing is told of it.
var statuses = map[core.Category]int{
	core.Invalid: http.StatusBadRequest, core.NotFound: http.StatusNotFound, core.PolicyDenied: http.StatusForbidden,
	core.RateLimited:     http.StatusTooManyRequests,
	core.MessageTooLarge: http.StatusRequestEntityTooLarge, core.ApprovalDecided: http.StatusConflict,
	core.ApprovalExpired: http.StatusConflict,
	// the audit log contradicts it, or nobody can tell
	core.ApprovalMismatch: http.StatusConflict, core.Unsupported: http.StatusConflict,
	core.StoreBusy: http.StatusServiceUnavailable, core.StoreFull: http.StatusServiceUnavailable,
}

func writeFault(w http.ResponseWriter, err error) {
	status, f := faultOf(err)
	if after := core.RetryAfterOf(err); after > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(after.Seconds()))))
	}
	var refusal *access.Refusal
	if errors.As(err, &refusal) && refusal.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if errors.Is(err, intake.ErrFull) {
		_ = intake.Refuse(w, err)
	}
	writeJSON(w, status, Fault{f})
}

// refusals are what is told of a body that is not taken, by the status of HTTP.
var refusals = map[int]FaultDetail{
	http.StatusBadRequest:     {string(core.Invalid), "The request ended early."},
	http.StatusRequestTimeout: {"request_timeout", "The request did not arrive in time. Send it again."},
	http.StatusRequestEntityTooLarge: {
		string(core.MessageTooLarge), fmt.Sprintf("The request is larger than %d bytes, which is the limit.", MaxBody),
	},
	http.StatusServiceUnavailable: {"unavailable", intake.ErrFull.Why},
}

// faultOf is what may be told of an error.
func faultOf(err error) (int, FaultDetail) {
	var refusal *access.Refusal
	var body *intake.Refusal
	switch {
	case errors.As(err, &refusal):
		return refusal.Status, FaultDetail{refusal.Code, refusal.Message}
	case errors.Is(err, intake.TooMany):
		return http.StatusBadRequest, FaultDetail{string(core.Invalid), intake.TooMany.Why}
	case errors.As(err, &body):
		return body.Status, refusals[body.Status]
	}
	category := core.CategoryOf(err)
	status, known := statuses[category]
	if !known || core.MessageOf(err) == "" {
		if status == 0 {
			status, category = http.StatusInternalServerError, core.Internal
		}
		return status, FaultDetail{string(category), "gatehouse could not do this now. Try again; if it goes on, " +
			"tell whoever runs it."}
	}
	return status, FaultDetail{string(category), core.MessageOf(err)}
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
