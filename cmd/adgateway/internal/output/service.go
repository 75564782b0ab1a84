package output

import (
	"fmt"
	"io"
)

// ServiceStatus is the state of the Windows service.
type ServiceStatus struct {
	Name     string   `json:"name"`
	State    string   `json:"state"`
	Problems []string `json:"problems"` // reasons why it cannot run as installed
}

// Text writes the state and a line for each problem.
func (s ServiceStatus) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "service %s: %s\n", s.Name, s.State)
	for _, problem := range s.Problems {
		if err == nil {
			_, err = fmt.Fprintf(w, "problem: %s\n", problem)
		}
	}
	return err
}
