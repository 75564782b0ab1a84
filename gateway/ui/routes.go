package ui

import (
	"net/http"
)

// New returns the pages.
func New(o Options) *Pages {
	p := newPages(o, Console{Menu: menu, Said: messageOf})
	p.Anybody("/ui/{$}", func(w http.ResponseWriter, r *http.Request) { front(p, w, r) })
	for i := range listings {
		l := &listings[i]
		p.Get("/ui/"+l.path, func(c *visit) { showListing(c, l) })
		p.Post("/ui/"+l.path, func(c *visit) { applyToMany(c, l) })
	}
	p.Get("/ui/search", searchAll)
	p.Get("/ui/suggest", suggest)
	p.Get("/ui/counts", counts)
	p.Anybody("/ui/status", func(w http.ResponseWriter, r *http.Request) { showStatus(p, w, r) })
	p.Get("/ui/rights", rights)
	p.Post("/ui/recent", clearRecent)
	for _, k := range kinds {
		if sections[k.hitType] == nil {
			continue // its page is made by itself
		}
		p.Get("/ui/"+k.path+"/{guid}", func(c *visit) { showObject(c, k) })
	}
	p.Get("/ui/do", doAll)
	p.Get("/ui/do/{operation}", doForm)
	p.Fill("/ui/do/{operation}", doOperation)
	p.Get("/ui/pick/{kind}", showPick)
	p.Get("/ui/steps/{step}", shownStep)
	p.Post("/ui/steps/{step}", confirmStep)
	p.Post("/ui/steps/{step}/close", closeStep)
	p.Get("/ui/ous", showTree)
	p.Get("/ui/ous/{path}", showOU)
	for _, path := range partsOfOU {
		p.Get("/ui/ous/{path}/"+path, func(c *visit) {
			showListing(c, inOU(path, c.r.PathValue("path")))
		})
	}
	p.Get("/ui/zones/{zone}", showZone)
	p.Get("/ui/zones/{zone}/records", func(c *visit) {
		showListing(c, recordsOf(c.r.PathValue("zone")))
	})
	p.Get("/ui/changes/{id}", showChange)
	p.Get("/ui/objects/{id}", findObject)
	p.Get("/ui/jobs", func(c *visit) { showJobs(c, nil, nil) })
	p.Upload("/ui/jobs", submitList)
	p.Get("/ui/jobs/{id}", func(c *visit) { showJob(c, nil) })
	p.Get("/ui/jobs/{id}/result.csv", jobResult)
	p.Post("/ui/jobs/{id}/{action}", controlJob)
	if p.Log != nil {
		p.Get("/ui/audit", showAudit)
	}
	return p
}
