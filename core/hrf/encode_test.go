package hrf_test

import (
	"testing"

	"gatehouse/core/hrf"
	"gatehouse/core/strictjson"
)

func TestEncodingKeepsOrderAndDigits(t *testing.T) {
	content, err := strictjson.Parse(
		[]byte(`{"z": [1.50, 1e400, -0, true, false, null], "a": {"<&>": "\u2028\"\\é"}, "m": []}`))
	if err != nil {
		t.Fatal(err)
	}
	got := string(hrf.Encode(&hrf.Envelope{Version: "1.0", Messages: []hrf.Message{
		{Role: "user", Content: &strictjson.Value{Kind: strictjson.String}},
		{
			Role: "assistant", Channel: "commentary", Recipient: "a.b", ContentType: "json", Termination: "call",
			Content: content,
		},
	}}))
	want := `{"HRFVersion":"1.0","messages":[{"role":"user","content":""},{"role":"assistant",` +
		`"channel":"commentary","recipient":"a.b","contentType":"json","termination":"call",` +
		`"content":{"z":[1.50,1e400,-0,true,false,null],"a":{"<&>":"\u2028\"\\é"},"m":[]}}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
