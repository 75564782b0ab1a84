package layout

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"adgateway/test/prose"
)

// TestCommentsArePlain: no comment, in tests or elsewhere, contains a phrase of the list of [prose].
func TestCommentsArePlain(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.file) {
			continue
		}
		for _, group := range s.file.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, found := range prose.Comment(text) {
				assert.Fail(t, fmt.Sprintf("%s:%d: %s", s.path, s.line(group.Pos()), found))
			}
		}
	}
}
