package intake_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/internal/intake"
	"gatehouse/core/inflight"
)

// posted is a request of a known or an unknown length, which holds memory of a budget.
func posted(b *inflight.Budget, body string, known bool) (*http.Request, *inflight.Hold) {
	var from io.Reader = strings.NewReader(body)
	if !known {
		from = io.MultiReader(from)
	}
	hold := b.Hold(inflight.People, "ann")
	r := httptest.NewRequest(http.MethodPost, "/", from)
	return r.WithContext(inflight.With(r.Context(), hold)), hold
}

// refusedWith checks that a body was refused with a status, and that the answer closes the connection.
func refusedWith(t *testing.T, what string, w *httptest.ResponseRecorder, err error, status int) {
	t.Helper()
	var r *intake.Refusal
	if !errors.As(err, &r) || r.Status != status || r.Why == "" {
		t.Errorf("%s: %v, want %d", what, err, status)
	}
	if status == http.StatusServiceUnavailable &&
		(w.Header().Get("Connection") != "close" || w.Header().Get("Retry-After") == "") {
		t.Errorf("%s: the headers are %v", what, w.Header())
	}
}

func TestABodyTakesItsRoomBeforeItIsRead(t *testing.T) {
	how := intake.Body{Most: 100_000, Within: time.Minute, Weight: 4}
	for _, known := range []bool{true, false} {
		memory := inflight.New(8 << 20) // a person may hold 1 MiB
		for _, size := range []int{0, 1, 16 << 10, 16<<10 + 1, 100_000} {
			r, hold := posted(memory, strings.Repeat("x", size), known)
			data, err := how.Read(httptest.NewRecorder(), r)
			if err != nil || len(data) != size {
				t.Errorf("%d bytes, of known length %v: %d, %v", size, known, len(data), err)
			}
			if held := memory.Held(); held < int64(4*size) || held > int64(4*size)+8*16<<10 {
				t.Errorf("%d bytes, of known length %v: %d are held", size, known, held)
			}
			hold.Release()
		}
		w := httptest.NewRecorder()
		r, hold := posted(memory, strings.Repeat("x", 100_001), known)
		_, err := how.Read(w, r)
		refusedWith(t, "a byte too many", w, err, http.StatusRequestEntityTooLarge)
		hold.Release()

		other := memory.Hold(inflight.People, "ann")
		other.Take(900_000)
		r, hold = posted(memory, strings.Repeat("x", 100_000), known)
		_, err = how.Read(w, r)
		refusedWith(t, "without room", w, err, http.StatusServiceUnavailable)
		hold.Release()
		other.Release()
		if memory.Held() != 0 {
			t.Errorf("%d bytes are still held", memory.Held())
		}
	}
	r, _ := posted(nil, strings.Repeat("x", 1000), true)
	if data, err := how.Read(httptest.NewRecorder(), r); err != nil || len(data) != 1000 {
		t.Errorf("without a budget: %d bytes, %v", len(data), err)
	}
}

// TestValuesAreCountedBeforeTheyAreParsed: JSON of many values is refused, and one of fewer takes their room.
func TestValuesAreCountedBeforeTheyAreParsed(t *testing.T) {
	how := intake.Body{Most: 1 << 20, Within: time.Minute, Weight: 1}
	memory := inflight.New(1 << 30)
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("{},", n), ",") + "]" }
	r, hold := posted(memory, list(10_000), true)
	if _, err := how.JSON(httptest.NewRecorder(), r); err != nil || memory.Held() < 10_000*400 {
		t.Errorf("10,000 values hold %d bytes, %v", memory.Held(), err)
	}
	hold.Release()
	for name, body := range map[string]string{"values": list(20_000), "levels": strings.Repeat("[", 600)} {
		w := httptest.NewRecorder()
		r, hold := posted(memory, body, true)
		_, err := how.JSON(w, r)
		refusedWith(t, name, w, err, http.StatusBadRequest)
		hold.Release()
	}
	w := httptest.NewRecorder()
	memory = inflight.New(8 << 20)
	memory.Hold(inflight.People, "ann").Take(10)
	r, _ = posted(memory, list(10_000), true)
	_, err := how.JSON(w, r)
	refusedWith(t, "without room for the tree", w, err, http.StatusServiceUnavailable)
}

func TestFormsHaveFewFields(t *testing.T) {
	how := intake.Body{Most: 1 << 20, Within: time.Minute, Weight: 1}
	form := func(body string) (string, error) {
		r, _ := posted(nil, body, true)
		values, err := how.Form(httptest.NewRecorder(), r)
		return values.Get("a"), err
	}
	if a, err := form("b=2&a=1"); err != nil || a != "1" {
		t.Errorf("%q, %v", a, err)
	}
	for _, body := range []string{strings.Repeat("a&", 200), "a=%zz"} {
		_, err := form(body)
		refusedWith(t, body[:3], nil, err, http.StatusBadRequest)
	}
}
