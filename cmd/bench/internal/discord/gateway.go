package discord

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"gatehouse/cmd/bench/internal/wire"
)

// The gateway's operations.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

// session is what a bot that has identified receives. The lock of its Discord is not held during a dispatch, which may
// have to wait until the bot reads: it may be waiting for an answer of the API itself.
type session struct {
	socket *wire.Socket
	mu     sync.Mutex
	seq    int
}

// dispatch sends an event. Without a session, nil, nobody receives it. If it can't be sent, the connection has ended,
// and whoever reads it notices.
func (s *session) dispatch(name string, data []byte) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	frame := make([]byte, 0, len(data)+80)
	_ = s.socket.Write(fmt.Appendf(frame, `{"op":%d,"s":%d,"t":%q,"d":%s}`, opDispatch, s.seq, name, data))
}

// serve reads a connection to the gateway until it ends.
func (d *Discord) serve(socket *wire.Socket) {
	defer d.end(socket)
	if send(socket, opHello, `{"heartbeat_interval":41250}`) != nil {
		return
	}
	for {
		frame, err := socket.Read()
		if err != nil {
			return
		}
		var f struct {
			Op int `json:"op"`
		}
		if err := json.Unmarshal(frame, &f); err != nil {
			return
		}
		switch f.Op {
		case opHeartbeat:
			err = send(socket, opHeartbeatAck, "null")
		case opIdentify:
			d.begin(socket)
		case opResume:
			err = send(socket, opInvalidSession, "false")
		}
		if err != nil {
			return
		}
	}
}

func send(socket *wire.Socket, op int, data string) error {
	return socket.Write(fmt.Appendf(nil, `{"op":%d,"d":%s}`, op, data))
}

// begin begins a session.
func (d *Discord) begin(socket *wire.Socket) {
	s := &session{socket: socket}
	s.dispatch("READY",
		[]byte(`{"v":10,"user":`+botUser+`,"guilds":[{"id":"`+guild+
			`","unavailable":true}],"session_id":"bench","resume_gateway_url":"`+
			d.sockets.URL()+`","shard":[0,1],"application":`+applicationJSON+`}`))
	s.dispatch("GUILD_CREATE", d.guild())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session = s
}

// end ends the session of a connection, if it has one.
func (d *Discord) end(socket *wire.Socket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.session != nil && d.session.socket == socket {
		d.session = nil
	}
}

// applicationJSON is the bot's application, which may read the content of messages.
const applicationJSON = `{"id":"` + application + `","name":"bench","flags":262144}`

// everything are all permissions.
const everything = "2251799813685247"

// guildFields are the server's own fields.
const guildFields = `"id":"` + guild + `","name":"bench","owner_id":"100000000000000000","roles":[{"id":"` + guild +
	`","name":"@everyone","permissions":"` + everything + `","position":0}],"features":[]`

// botMember is the bot as a member of the server.
const botMember = `{"user":` + botUser +
	`,"roles":[],"joined_at":"2024-01-01T00:00:00+00:00","deaf":false,"mute":false,"flags":0}`

// guild is the server with its channels.
func (d *Discord) guild() []byte {
	var channels []string
	for n := range d.plan.Threads {
		channels = append(channels, channelJSON(strconv.Itoa(channel+n)))
	}
	for n := range d.plan.Warm + d.plan.Events {
		if d.asks(n) {
			channels = append(channels, channelJSON(d.place(n)))
		}
	}
	return fmt.Appendf(nil,
		`{%s,"channels":[%s],"threads":[],"members":[%s],"member_count":1,`+
			`"joined_at":"2024-01-01T00:00:00+00:00","large":false,`+
			`"unavailable":false}`, guildFields, strings.Join(channels, ","), botMember)
}

func channelJSON(id string) string {
	return `{"id":"` + id + `","type":0,"guild_id":"` + guild +
		`","name":"room","position":0,"permission_overwrites":[],"parent_id":null}`
}
