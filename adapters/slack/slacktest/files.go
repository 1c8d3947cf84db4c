package slacktest

import (
	"cmp"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
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

var fileMethods = map[string]method{
	"files.info": {scopes: []string{"files:read"}, do: filesInfo},
}

func filesInfo(q *request) (object, *failure) {
	f := q.s.files[q.args["file"]]
	if f == nil {
		return nil, fail("file_not_found")
	}
	whole := *f
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
		w.Header().Set("Content-Type", mimeOf(*f))
		_, _ = w.Write(f.Content)
	}
}

// AddFile adds a file that no message here holds, and returns its url_private.
func (s *Server) AddFile(f File) (address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.ID = cmp.Or(f.ID, s.ids.next("F"))
	s.files[f.ID] = &f
	return s.fileURL(f)
}
