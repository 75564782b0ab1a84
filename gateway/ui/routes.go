// Package ui serves the pages for people under /ui/. They are rendered on the server and work without
// scripts. This package contains the pages about objects, changes and the gateway. Package table contains the
// lists, and package work the pages on which people make changes.
package ui

import (
	"net/http"

	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/table"
	"adgateway/gateway/ui/work"
)

// New returns the pages with all routes.
func New(o frame.Options) *frame.Pages {
	p := frame.NewPages(o, frame.Console{Menu: menu, Said: work.MessageOf, Notes: work.Notes})
	p.Anybody("/ui/{$}", func(w http.ResponseWriter, r *http.Request) { front(p, w, r) })
	for i := range listings {
		l := &listings[i]
		p.Get("/ui/"+l.Path, func(c *frame.Visit) { table.ShowListing(c, l) })
		p.Post("/ui/"+l.Path+"/saved", func(c *frame.Visit) { table.SaveFilter(c, l) })
		p.Post("/ui/"+l.Path+"/saved/remove", func(c *frame.Visit) { table.RemoveFilter(c, l) })
		if l.Many != nil {
			p.Post("/ui/"+l.Path, func(c *frame.Visit) { work.ApplyToMany(c, l) })
		}
	}
	p.Get("/ui/search", searchAll)
	p.Get("/ui/suggest", suggest)
	p.Get("/ui/counts", counts)
	p.Anybody("/ui/status", func(w http.ResponseWriter, r *http.Request) { showStatus(p, w, r) })
	p.Get("/ui/rights", showRights)
	p.Post("/ui/recent", clearRecent)
	for _, k := range frame.Kinds {
		if sections[k.HitType] == nil {
			continue // it has a page of its own
		}
		p.Get("/ui/"+k.Path+"/{guid}", func(c *frame.Visit) { showObject(c, k) })
	}
	p.Get("/ui/people/{guid}/photo", showPhoto)
	p.Get("/ui/people/{guid}/compare", compareGroups)
	p.Post("/ui/computers/{guid}/reveal", work.RevealSecret)
	p.Get("/ui/reveals/{id}", work.ShowReveal)
	p.Post("/ui/reveals/{id}/close", work.CloseReveal)
	p.Get("/ui/do", work.DoAll)
	p.Get("/ui/do/{operation}", work.DoForm)
	p.Fill("/ui/do/{operation}", work.DoOperation)
	p.Get("/ui/pick/{kind}", work.ShowPick)
	p.Get("/ui/steps/{step}", work.ShownStep)
	p.Post("/ui/steps/{step}", work.ConfirmStep)
	p.Post("/ui/steps/{step}/close", work.CloseStep)
	p.Get("/ui/ous", showTree)
	p.Get("/ui/ous/{path}", showOU)
	for _, path := range partsOfOU {
		p.Get("/ui/ous/{path}/"+path, func(c *frame.Visit) {
			table.ShowListing(c, inOU(path, c.R.PathValue("path")))
		})
	}
	p.Get("/ui/bin/{guid}", showDeleted)
	p.Get("/ui/zones/{zone}/records/{name}/{type}", showRecordSet)
	p.Get("/ui/zones/{zone}", showZone)
	p.Get("/ui/zones/{zone}/records", func(c *frame.Visit) {
		table.ShowListing(c, recordsOf(c.R.PathValue("zone")))
	})
	p.Get("/ui/changes/{id}", showChange)
	p.Get("/ui/objects/{id}", findObject)
	p.Upload("/ui/jobs", work.SubmitList)
	p.Get("/ui/procedures", work.ShowProcedures)
	p.Get("/ui/procedures/{name}", work.ShowProcedure)
	p.Post("/ui/procedures/{name}", work.DoProcedure)
	p.Get("/ui/lists/{id}", work.ShowSheet)
	p.Post("/ui/lists/{id}", work.SubmitSheet)
	p.Get("/ui/jobs/{id}", func(c *frame.Visit) { work.ShowJob(c, nil) })
	p.Get("/ui/jobs/{id}/events", work.JobEvents)
	p.Get("/ui/notes", work.NoteEvents)
	p.Get("/ui/jobs/{id}/result.csv", work.JobResult)
	p.Post("/ui/jobs/{id}/{action}", work.ControlJob)
	if p.Log != nil {
		p.Get("/ui/audit", showAudit)
	}
	return p
}
