package work

import (
	"bytes"
	"net/http"

	"adgateway/gateway/call"
	"adgateway/gateway/schema"
	"adgateway/gateway/schema/jobstate"
	"adgateway/gateway/sheet"
	"adgateway/gateway/ui/form"
	"adgateway/gateway/ui/frame"
	"adgateway/gateway/ui/say"
	"adgateway/gateway/ui/texts"
)

// wouldRow is a change that a row of a list would make, according to a dry run.
type wouldRow struct {
	Line int
	plannedRow
	Effect texts.Text // effect without values; nil if there are values
}

// itemsIn returns the first items of a job in a state, or in any state if state is empty. more reports
// whether there are more such items.
func itemsIn(c *frame.Visit, j Job, state string) (items []jobItem, more bool) {
	values := call.Values{JobID: j.ID}
	if state != "" {
		values["State"] = state
	}
	a := c.Listed(frame.List{
		Operation: "job.items", Key: "line", Before: frame.ByLine, Most: mostItems, Values: values,
	})
	return frame.Records[jobItem](a), a.Next != ""
}

// itemRow is an uncompleted item on a page.
type itemRow struct {
	Line    int
	ID      string
	What    texts.Text // operation
	State   say.Word
	Code    string
	Message texts.Text
}

// itemRowOf returns the row of an item. made is the line of the first item that creates an object, or 0 if
// none does. A dry run creates nothing, so it cannot check items that need the object.
func itemRowOf(j Job, item jobItem, made int) itemRow {
	row := itemRow{
		Line: item.Line, ID: item.ID, What: texts.Raw(item.Operation), State: say.WordOf("item.state", item.State),
		Code: item.Code, Message: texts.Error(item.Code, item.Message),
	}
	if f := form.Of(item.Operation); f != nil {
		row.What = actionIn(f)
	}
	if item.Code == "" && item.State == string(jobstate.NotRun) && item.Message != "" {
		row.Message = texts.Of("job.after")
	}
	follows := made > 0 && made < item.Line && item.Code == string(schema.NotFound)
	if follows && jobstate.Mode(j.Mode) == jobstate.DryRun {
		row.Message, row.Code, row.State = texts.Of("job.follows"), "", say.WordOf("item.state", "waiting")
	}
	return row
}

// madeAt returns the line of the first item that creates an object, or 0 if none does.
func madeAt(items []jobItem) int {
	for _, item := range items {
		if f := form.Of(item.Operation); f != nil && f.Op.Effect.Creates() && item.Plan != "" {
			return item.Line
		}
	}
	return 0
}

// would returns the changes that the first items would make, if the job is a dry run.
func would(c *frame.Visit, j Job, items []jobItem) (all []wouldRow) {
	if jobstate.Mode(j.Mode) != jobstate.DryRun {
		return nil
	}
	for _, item := range items {
		f := form.Of(item.Operation)
		if item.Plan == "" || f == nil {
			continue
		}
		for _, p := range frame.Records[say.Plan](c.Get("plan.get", "PlanId", item.Plan)) {
			var told StepPage
			for _, o := range p.Objects {
				for _, change := range o.Changes {
					tellOf(c, &told, f, o, change)
				}
			}
			for _, line := range told.Lines {
				effect := texts.Of("job.effect", "mark", line.Mark, "what", line.Text)
				all = append(all, wouldRow{Line: item.Line, Effect: effect})
			}
			for _, row := range told.Rows {
				all = append(all, wouldRow{Line: item.Line, plannedRow: row})
			}
		}
	}
	return all
}

// mark is the byte order mark, from which spreadsheets recognize UTF-8.
const mark = "\ufeff"

// JobResult sends a job's list as a file, with the outcome of each row in additional columns.
func JobResult(c *frame.Visit) {
	id := c.R.PathValue("id")
	a := c.Get("job.result", JobID, id, "Format", "csv")
	if !a.Ok() || a.Document == nil {
		c.Failed(a)
		return
	}
	var file bytes.Buffer
	if _, err := a.Document.Write(&file); err != nil {
		why := &frame.Failure{Message: c.Say("job.noResult")}
		c.Failed(&frame.Answer{Status: http.StatusServiceUnavailable, Error: why})
		return
	}
	c.W.Header().Set("Content-Type", "text/csv; charset=utf-8")
	c.W.Header().Set("Content-Disposition", `attachment; filename="result.csv"`)
	c.W.WriteHeader(http.StatusOK)
	text := bytes.TrimPrefix(file.Bytes(), []byte(mark))
	if _, err := c.W.Write(append([]byte(mark), defused(text)...)); err == nil && a.Document.Sent != nil {
		a.Document.Sent()
	}
}

// defused returns a list whose cells spreadsheets do not interpret as formulas. An upload of the list
// restores the cells.
func defused(list []byte) []byte {
	table := form.ReadSheet(list).WithoutNames()
	return table.Changed(func(at form.Cell) string { return sheet.Defused(at.Text) })
}
