// Package packing compresses responses to browsers.
package packing

import (
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Handler compresses the text responses of next for browsers that accept it.
//
// The length of a compressed page reveals something about its text to an eavesdropper on the network who can
// repeat the request with other words in its address (BREACH). Therefore Handler does not compress the
// response if another site caused the request, or if the cause of the request is unknown.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding, Sec-Fetch-Site")
		if r.Method == http.MethodHead || !accepts(r.Header.Get("Accept-Encoding")) || !own(r) {
			next.ServeHTTP(w, r)
			return
		}
		p := &packer{ResponseWriter: w}
		defer p.end()
		next.ServeHTTP(p, r)
	})
}

// own reports whether a request was caused by a person or by a page of the same origin.
func own(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "same-origin" || site == "none"
}

// accepts reports whether an Accept-Encoding header allows gzip.
func accepts(header string) bool {
	for one := range strings.SplitSeq(header, ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(one), ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, q, has := strings.Cut(weight, "=")
		n, err := strconv.ParseFloat(strings.TrimSpace(q), 64)
		return !has || err == nil && n > 0
	}
	return false
}

// packed contains the media types of texts. Event streams are not among them, because each event is sent at
// once.
var packed = map[string]bool{
	"text/html": true, "text/css": true, "text/javascript": true, "text/csv": true, "text/plain": true,
	"application/javascript": true, "application/json": true, "image/svg+xml": true,
}

var writers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// packer compresses the response if its header has a text type.
type packer struct {
	http.ResponseWriter
	began bool
	to    *gzip.Writer // nil if the response is not compressed
}

func (p *packer) begin(status int) {
	if p.began {
		return
	}
	p.began = true
	h := p.Header()
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	whole := h.Get("Content-Encoding") == "" && h.Get("Content-Range") == ""
	if err != nil || !packed[kind] || !whole || bodiless(status) {
		return
	}
	h.Set("Content-Encoding", "gzip")
	h.Del("Content-Length")
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		h.Set("ETag", "W/"+tag)
	}
	p.to = writers.Get().(*gzip.Writer)
	p.to.Reset(p.ResponseWriter)
}

func bodiless(status int) bool {
	return status < 200 || status == http.StatusNoContent || status == http.StatusNotModified
}

// WriteHeader implements [http.ResponseWriter].
func (p *packer) WriteHeader(status int) {
	if status >= 200 {
		p.begin(status)
	}
	p.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (p *packer) Write(data []byte) (int, error) {
	p.begin(http.StatusOK)
	if p.to == nil {
		return p.ResponseWriter.Write(data)
	}
	return p.to.Write(data)
}

// Flush implements [http.Flusher].
func (p *packer) Flush() {
	p.begin(http.StatusOK)
	if p.to != nil {
		_ = p.to.Flush() // fails only if the browser has disconnected
	}
	_ = http.NewResponseController(p.ResponseWriter).Flush()
}

// Unwrap supports [http.ResponseController].
func (p *packer) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *packer) end() {
	if p.to != nil {
		_ = p.to.Close() // fails only if the browser has disconnected
		p.to.Reset(io.Discard)
		writers.Put(p.to)
	}
}
