package web_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
)

func TestFormsThatAreTooLongOrNoForms(t *testing.T) {
	s := newSite(t)
	a := s.desk.open("a1")
	expect(t, s.post("bob", "/approvals/a1", "choice=deny", "edits=0", "reason="+strings.Repeat("a", 70<<10)),
		http.StatusRequestEntityTooLarge, "nothing was done")
	// the service has the limit of a reason
	expect(t, s.post("bob", "/approvals/a1", "choice=deny", "edits=0", "reason="+strings.Repeat("a", 3000)),
		http.StatusSeeOther)
	a.State = core.Open
	for _, kind := range []string{"multipart/form-data; boundary=x", "application/json", "text/plain", ""} {
		expect(t,
			s.do(
				s.request("bob", http.MethodPost, "/approvals/a1", map[string][]string{"choice": {"approve"}},
					"Content-Type: "+kind)), http.StatusUnsupportedMediaType)
	}
	bad := s.request("bob", http.MethodPost, "/approvals/a1", nil)
	bad.Body = http.NoBody
	bad.URL.RawQuery = "choice=%zz"
	expect(t, s.do(bad), http.StatusBadRequest)
	if a.State != core.Open {
		t.Errorf("%+v", a)
	}
}

// TestASlowFormIsGivenUp, and the others are still served.
func TestASlowFormIsGivenUp(t *testing.T) {
	s := newSite(t)
	s.web.SetFormTime(50 * time.Millisecond)
	server := httptest.NewServer(s.mux)
	defer server.Close()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	fmt.Fprintf(connection, "POST /login HTTP/1.1\r\nHost: %s\r\nContent-Type: "+
		"application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ntoken=", host)
	_ = connection.SetReadDeadline(time.Now().Add(20 * time.Second))
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestTimeout || !response.Close {
		t.Errorf("%s, closed %v", response.Status, response.Close)
	}
	other, err := http.Get(server.URL + "/login")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Body.Close()
	if other.StatusCode != http.StatusOK {
		t.Errorf("another request: %s", other.Status)
	}
}
