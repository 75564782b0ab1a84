// Package packing compresses answers to browsers.
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

// Handler compresses the texts that next answers with for browsers that accept it.
//
// The length of a compressed page tells something of its text to a listener on the network
// who can repeat the request with other words in its address (BREACH). So a request that
// another site has caused, or that does not say what caused it, gets its answer as it is.
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

// own reports whether a person or a page of the same origin has caused a request.
func own(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "same-origin" || site == "none"
}

// accepts reports whether a header Accept-Encoding allows gzip.
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

// packed are the types of texts. A stream of events has another one: each of its events is sent at once.
var packed = map[string]bool{
	"text/html": true, "text/css": true, "text/javascript": true, "text/csv": true, "text/plain": true,
	"application/javascript": true, "application/json": true, "image/svg+xml": true,
}

var writers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

// packer compresses what is written, if the header says that it is a text.
type packer struct {
	http.ResponseWriter
	began bool
	to    *gzip.Writer // nil: as it is
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
		_ = p.to.Flush() // a browser that has left
	}
	_ = http.NewResponseController(p.ResponseWriter).Flush()
}

// Unwrap is for [http.ResponseController].
func (p *packer) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *packer) end() {
	if p.to != nil {
		_ = p.to.Close() // a browser that has left
		p.to.Reset(io.Discard)
		writers.Put(p.to)
	}
}
