package slacktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/fakeserver"
)

// File is a file attached to a message.
type File struct {
	ID      string // given by the fake if empty
	Name    string
	Title   string
	Mime    string // guessed from the name if empty
	Content []byte
	Size    int // as reported by Slack; 0: the length of Content
	// URL replaces the real url_private, for instance with one on a wrong host. A file with a URL is not served here.
	URL string
	// RedirectTo makes the true url_private answer with a redirect.
	RedirectTo string

	Mode       string         // "hosted" if empty
	Preview    string         // of a snippet: its beginning
	Transcript map[string]any // transcription, of a voice clip
	Stub       bool           // events hold its id alone, as over Slack Connect; files.info has the rest
}

type storedFile struct {
	File
	ticket   string // of an upload under way
	length   int
	user     string
	complete bool
}

var fileMethods = map[string]method{
	"files.getUploadURLExternal":   {scopes: []string{"files:write"}, do: getUploadURL},
	"files.completeUploadExternal": {scopes: []string{"files:write"}, do: completeUpload},
	"files.info":                   {scopes: []string{"files:read"}, do: filesInfo},
}

func getUploadURL(q *request) (object, *failure) {
	length, err := strconv.Atoi(q.args["length"])
	switch {
	case q.args["filename"] == "":
		return nil, failWith("invalid_arguments", []string{"[ERROR] missing required field: filename"})
	case err != nil || length <= 0:
		return nil, failWith("invalid_arguments", []string{"[ERROR] missing required field: length"})
	}
	s := q.s
	f := &storedFile{
		File: File{ID: s.ids.next("F"), Name: q.args["filename"]}, ticket: s.ids.secret(), length: length,
		user: s.o.BotUserID,
	}
	s.files[f.ID] = f
	return object{"upload_url": s.base + "/upload/" + f.ticket, "file_id": f.ID}, nil
}

// serveUpload takes a file's bytes, raw or as a form with one file.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	var content []byte
	var err error
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		var part io.ReadCloser
		if err = r.ParseMultipartForm(maxBody); err == nil {
			for _, headers := range r.MultipartForm.File {
				if part, err = headers[0].Open(); err == nil {
					content, err = io.ReadAll(part)
					_ = part.Close()
				}
			}
		}
	} else {
		content, err = io.ReadAll(r.Body)
	}
	if err != nil {
		http.Error(w, "bad upload", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.files {
		if f.ticket != "" && f.ticket == r.PathValue("ticket") && !f.complete {
			if len(content) != f.length {
				http.Error(w, "length mismatch", http.StatusBadRequest)
				return
			}
			f.Content = content
			_, _ = fmt.Fprintf(w, "OK - %d", len(content))
			return
		}
	}
	http.Error(w, "no such upload", http.StatusNotFound)
}

func completeUpload(q *request) (object, *failure) {
	s := q.s
	var asked []struct{ ID, Title string }
	if json.Unmarshal([]byte(q.args["files"]), &asked) != nil || len(asked) == 0 {
		return nil, failWith("invalid_arguments", []string{"[ERROR] missing required field: files"})
	}
	var shared []File
	for _, a := range asked {
		f := s.files[a.ID]
		if f == nil || f.Content == nil {
			return nil, fail("file_not_found")
		}
		f.Title = a.Title
		shared = append(shared, f.File)
	}
	channels := strings.FieldsFunc(q.args["channel_id"]+","+q.args["channels"], func(r rune) bool { return r == ',' })
	for _, id := range channels {
		c, failed := s.postable(id)
		if failed != nil {
			return nil, failed
		}
		in, failed := s.readContent(Args{"text": q.args["initial_comment"], "blocks": q.args["blocks"]})
		if failed != nil {
			return nil, failed
		}
		m := s.message(in)
		m.TS, m.Subtype, m.Files = s.newTS(), "file_share", shared
		if thread := q.args["thread_ts"]; thread != "" {
			m.ThreadTS = c.rootOf(thread)
		}
		r := s.add(c, m)
		fakeserver.Hide(&s.Reads, &r.Visibility)
		s.emitMessage(c, r.Message, actionOptions{})
	}
	for _, f := range shared {
		s.files[f.ID].complete = true
	}
	return object{"files": s.wireFiles(shared)}, nil
}

func filesInfo(q *request) (object, *failure) {
	f := q.s.files[q.args["file"]]
	if f == nil {
		return nil, fail("file_not_found")
	}
	whole := f.File
	whole.Stub = false
	return object{
		"file": q.s.wireFiles([]File{whole})[0], "comments": []any{}, "response_metadata": object{"next_cursor": ""},
	}, nil
}

func (s *Server) wireFiles(files []File) []object {
	out := []object{}
	for _, f := range files {
		if f.Stub {
			out = append(out, object{
				"id": f.ID, "mode": "file_access", "file_access": "check_file_info", "created": 0, "timestamp": 0,
			})
			continue
		}
		private, kind := cmp.Or(f.URL, s.fileURL(f)), strings.TrimPrefix(path.Ext(f.Name), ".")
		file := object{
			"id": f.ID, "created": 1700000000, "timestamp": 1700000000, "name": f.Name,
			"title": cmp.Or(f.Title, f.Name), "mimetype": mimeOf(f), "filetype": kind,
			"pretty_type": strings.ToUpper(kind), "size": cmp.Or(f.Size, len(f.Content)),
			"mode":        cmp.Or(f.Mode, "hosted"),
			"is_external": false, "external_type": "", "editable": false,
			"is_public": true, "url_private": private, "url_private_download": private, "file_access": "visible",
			"permalink": s.workspaceURL() + "files/" + f.ID + "/" + url.PathEscape(f.Name),
		}
		if f.Preview != "" {
			file["preview"], file["preview_is_truncated"] = f.Preview, len(f.Preview) < len(f.Content)
		}
		if f.Transcript != nil {
			file["subtype"], file["transcription"] = "slack_audio", f.Transcript
		}
		out = append(out, file)
	}
	return out
}

func (s *Server) fileURL(f File) string {
	return s.base + "/files-pri/" + s.o.TeamID + "-" + f.ID + "/" + url.PathEscape(strings.ToLower(f.Name))
}

func mimeOf(f File) string {
	known := map[string]string{
		".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
		".pdf": "application/pdf",
	}
	return cmp.Or(f.Mime, known[strings.ToLower(path.Ext(f.Name))], "text/plain")
}

// serveFile serves url_private to the bot token only; any other request is redirected to the sign-in page, as in Slack.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/signin") {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!DOCTYPE html><html><body>Sign in to Slack</body></html>")
		return
	}
	s.mu.Lock()
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	allowed := token == s.o.BotToken && s.revoked == "" && s.hasScope("files:read")
	f := s.files[strings.TrimPrefix(r.PathValue("id"), s.o.TeamID+"-")]
	s.mu.Unlock()
	switch {
	case !allowed:
		http.Redirect(w, r, "/files-pri/x/signin?redir="+url.QueryEscape(r.URL.Path), http.StatusFound)
	case f == nil:
		http.NotFound(w, r)
	case f.RedirectTo != "":
		http.Redirect(w, r, f.RedirectTo, http.StatusFound)
	default:
		w.Header().Set("Content-Type", mimeOf(f.File))
		_, _ = w.Write(f.Content)
	}
}

// AddFile adds a file that no message here holds, and returns its url_private.
func (s *Server) AddFile(f File) (address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ID = cmp.Or(f.ID, s.ids.next("F"))
	s.files[f.ID] = &storedFile{File: f, complete: true}
	return s.fileURL(f)
}

// Uploaded is a file that was uploaded or shared, by its id.
func (s *Server) Uploaded(id string) (File, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.files[id]; f != nil {
		return f.File, true
	}
	return File{}, false
}
