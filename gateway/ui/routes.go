package ui

import (
	"net/http"
)

// New returns the pages.
func New(o Options) *Pages {
	p := &Pages{Options: o, routes: http.NewServeMux(), sites: http.NewCrossOriginProtection()}
	p.routes.HandleFunc("GET /ui/assets/{version}/{name}", asset)
	p.routes.HandleFunc("GET /ui/{$}", func(w http.ResponseWriter, r *http.Request) { front(p, w, r) })
	p.routes.HandleFunc("GET /ui/signin", p.showSignIn)
	p.routes.HandleFunc("POST /ui/signin", p.form(p.signIn))
	p.routes.HandleFunc("GET "+ticketPath, p.ticket)
	p.routes.HandleFunc("GET /ui/link/{code}", p.showLink)
	p.routes.HandleFunc("POST /ui/link/{code}", p.form(p.useLink))
	p.routes.HandleFunc("POST /ui/signout", p.form(p.signOut))
	p.routes.HandleFunc("POST /ui/look", p.form(p.setLook))
	for i := range listings {
		l := &listings[i]
		p.routes.HandleFunc("GET /ui/"+l.path, p.person(func(c *visit) { showListing(c, l) }))
		p.routes.HandleFunc("POST /ui/"+l.path, p.form(p.person(func(c *visit) { applyToMany(c, l) })))
	}
	p.routes.HandleFunc("GET /ui/search", p.person(searchAll))
	p.routes.HandleFunc("GET /ui/suggest", p.person(suggest))
	p.routes.HandleFunc("GET /ui/counts", p.person(counts))
	p.routes.HandleFunc("GET /ui/status", func(w http.ResponseWriter, r *http.Request) { showStatus(p, w, r) })
	p.routes.HandleFunc("GET /ui/rights", p.person(rights))
	p.routes.HandleFunc("POST /ui/recent", p.form(p.person(clearRecent)))
	for _, k := range kinds {
		if k.special {
			continue
		}
		p.routes.HandleFunc("GET /ui/"+k.path+"/{guid}", p.person(func(c *visit) { c.show(k) }))
	}
	p.routes.HandleFunc("GET /ui/do", p.person(doAll))
	p.routes.HandleFunc("GET /ui/do/{operation}", p.person(doForm))
	p.routes.HandleFunc("POST /ui/do/{operation}", p.filled(doOperation))
	p.routes.HandleFunc("GET /ui/pick/{kind}", p.person(showPick))
	p.routes.HandleFunc("GET /ui/steps/{step}", p.person((*visit).shownStep))
	p.routes.HandleFunc("POST /ui/steps/{step}", p.form(p.person((*visit).confirm)))
	p.routes.HandleFunc("POST /ui/steps/{step}/close", p.form(p.person((*visit).closeStep)))
	p.routes.HandleFunc("GET /ui/ous", p.person(showTree))
	p.routes.HandleFunc("GET /ui/ous/{path}", p.person(showOU))
	for _, path := range partsOfOU {
		p.routes.HandleFunc("GET /ui/ous/{path}/"+path, p.person(func(c *visit) {
			showListing(c, inOU(path, c.r.PathValue("path")))
		}))
	}
	p.routes.HandleFunc("GET /ui/zones/{zone}", p.person(showZone))
	p.routes.HandleFunc("GET /ui/zones/{zone}/records", p.person(func(c *visit) {
		showListing(c, recordsOf(c.r.PathValue("zone")))
	}))
	p.routes.HandleFunc("GET /ui/changes/{id}", p.person(showChange))
	p.routes.HandleFunc("GET /ui/objects/{id}", p.person((*visit).find))
	p.routes.HandleFunc("GET /ui/jobs", p.person(func(c *visit) { c.jobs(nil, nil) }))
	p.routes.HandleFunc("POST /ui/jobs", p.upload(submitList))
	p.routes.HandleFunc("GET /ui/jobs/{id}", p.person(func(c *visit) { c.job(nil) }))
	p.routes.HandleFunc("GET /ui/jobs/{id}/result.csv", p.person(jobResult))
	p.routes.HandleFunc("POST /ui/jobs/{id}/{action}", p.form(p.person((*visit).control)))
	if p.Log != nil {
		p.routes.HandleFunc("GET /ui/audit", p.person((*visit).audit))
	}
	p.routes.HandleFunc("/ui/", p.notFound)
	return p
}
