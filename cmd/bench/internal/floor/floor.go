// Package floor is the floor bot: the least that a bot in Go can do.
package floor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// Delay is the variable of how long it waits before it answers; the rest of its environment is that of every bot.
const Delay = "BENCH_DELAY"

// postsAtOnce is how many posts of the floor bot are under way at a time.
const postsAtOnce = 64

// service is the least that a bot in Go can do: it verifies the signature, acknowledges, and posts what was said to the
// thread. It stores nothing, so what it has acknowledged is lost when it ends.
type service struct {
	api, token, secret string
	delay              time.Duration
	client             *http.Client
	slots              chan struct{}
	posts              sync.WaitGroup
}

// Run runs the floor bot until ctx ends.
func Run(ctx context.Context, stderr io.Writer) error {
	delay, err := time.ParseDuration(cmp.Or(os.Getenv(Delay), "0s"))
	if err != nil {
		return err
	}
	f := &service{
		api: os.Getenv("SLACK_API_URL"), token: os.Getenv("SLACK_BOT_TOKEN"), secret: os.Getenv("SLACK_SIGNING_SECRET"),
		delay:  delay,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: postsAtOnce}},
		slots:  make(chan struct{}, postsAtOnce),
	}
	server := &http.Server{
		Addr: "127.0.0.1:" + os.Getenv("PORT"), ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := f.receive(w, r); err != nil {
				fmt.Fprintln(stderr, err)
			}
		}),
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	err = server.ListenAndServe()
	f.posts.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// receive acknowledges an event, and answers it then.
func (f *service) receive(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, []byte(f.secret))
	mac.Write([]byte("v0:" + r.Header.Get("X-Slack-Request-Timestamp") + ":"))
	mac.Write(body)
	if !hmac.Equal([]byte(r.Header.Get("X-Slack-Signature")), []byte("v0="+hex.EncodeToString(mac.Sum(nil)))) {
		http.Error(w, "the signature is wrong", http.StatusUnauthorized)
		return nil
	}
	var e struct {
		Event struct {
			Channel  string `json:"channel"`
			ThreadTS string `json:"thread_ts"`
			Text     string `json:"text"`
		} `json:"event"`
	}
	if err := json.Unmarshal(body, &e); err != nil {
		http.Error(w, "the body can't be read", http.StatusBadRequest)
		return nil
	}
	_, said, _ := strings.Cut(e.Event.Text, "> ")
	f.posts.Go(func() {
		time.Sleep(f.delay)
		f.slots <- struct{}{}
		defer func() { <-f.slots }()
		if err := f.post(
			map[string]string{
				"channel": e.Event.Channel, "thread_ts": e.Event.ThreadTS, "text": "echo: " + said,
			}); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	})
	return nil
}

func (f *service) post(message map[string]string) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, f.api+"chat.postMessage", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+f.token)
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	response, err := f.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var answer struct {
		OK bool `json:"ok"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && !answer.OK {
		return errors.New("a post is refused")
	}
	return err
}
