// Package wire is HTTP/1.1 for both ends of a bench, with as little work as possible: the driver and the fakes share
// the processors with the program that is measured. A connection is one goroutine, is kept alive, and has one request
// under way at a time; a request or an answer is one write of bytes that were made before.
package wire

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// bufferSize is the size of a connection's buffer: a request of a bench fits.
const bufferSize = 8 << 10

// Handler answers a request. The body is valid until it returns.
type Handler func(r *http.Request, body []byte) (answer []byte)

// Server is an HTTP server of a bench.
type Server struct {
	listener net.Listener
	handle   Handler

	mu    sync.Mutex
	conns map[net.Conn]struct{} // nil: closed
	work  sync.WaitGroup
}

// Serve starts a server on a free port of this machine. Close ends it.
func Serve(handle Handler) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	s := &Server{listener: l, handle: handle, conns: map[net.Conn]struct{}{}}
	s.work.Go(s.accept)
	return s, nil
}

// Address is the server's HOST:PORT.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close closes the server and all its connections, and waits for their goroutines.
func (s *Server) Close() {
	_ = s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		_ = c.Close()
	}
	s.conns = nil
	s.mu.Unlock()
	s.work.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.mu.Lock()
		if s.conns == nil {
			_ = c.Close()
		} else {
			s.conns[c] = struct{}{}
			s.work.Go(func() { s.serve(c) })
		}
		s.mu.Unlock()
	}
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		_ = c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	in := bufio.NewReaderSize(c, bufferSize)
	var body bytes.Buffer
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return // the other end has closed the connection, or does not speak HTTP
		}
		body.Reset()
		if _, err := body.ReadFrom(r.Body); err != nil {
			return
		}
		if _, err := c.Write(s.handle(r, body.Bytes())); err != nil || r.Close {
			return
		}
	}
}

// Answer is the bytes of an answer in JSON. More header lines end with a line break each.
func Answer(status int, body string, header ...string) []byte {
	b := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n",
		status, http.StatusText(status), len(body))
	for _, line := range header {
		b = append(append(b, line...), "\r\n"...)
	}
	return append(append(b, "\r\n"...), body...)
}

// Client is a connection to a server, opened when it is needed. It is for one goroutine.
type Client struct {
	Address string // HOST:PORT
	conn    net.Conn
	in      *bufio.Reader
}

// exchangeTime is how long an answer may take.
const exchangeTime = 30 * time.Second

// Post sends a request and returns the status of its answer. After an error the connection is closed, and the next call
// opens a new one.
func (c *Client) Post(request []byte) (status int, err error) {
	if c.conn == nil {
		if c.conn, err = net.DialTimeout("tcp", c.Address, time.Second); err != nil {
			c.conn = nil
			return 0, err
		}
		c.in = bufio.NewReaderSize(c.conn, bufferSize)
	}
	status, keep, err := c.exchange(request)
	if err != nil || !keep {
		c.Close()
	}
	return status, err
}

func (c *Client) exchange(request []byte) (status int, keep bool, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(exchangeTime)); err != nil {
		return 0, false, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return 0, false, err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, false, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, !response.Close, errors.Join(err, response.Body.Close())
}

// Close closes the connection, if there is one.
func (c *Client) Close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
	c.conn, c.in = nil, nil
}

// AppendRequest appends a POST request with JSON. The header lines end with a line break each.
func AppendRequest(b []byte, host, path, header string, body []byte) []byte {
	return appendRequest(b, host, path, "Content-Type: application/json\r\n"+header, body)
}

// AppendForm appends a POST request with a form. The header lines end with a line break each.
func AppendForm(b []byte, host, path, header string, body []byte) []byte {
	return appendRequest(b, host, path, "Content-Type: application/x-www-form-urlencoded\r\n"+header, body)
}

func appendRequest(b []byte, host, path, header string, body []byte) []byte {
	b = append(append(append(b, "POST "...), path...), " HTTP/1.1\r\nHost: "...)
	b = append(append(append(b, host...), "\r\nContent-Length: "...), strconv.Itoa(len(body))...)
	b = append(append(append(b, "\r\n"...), header...), "\r\n"...)
	return append(b, body...)
}
