// Package look has what the console, the manual and the home page have in common: their colors,
// in light and dark.
package look

import _ "embed"

// Colors is the style sheet with the colors, as properties of the root.
//
//go:embed colors.css
var Colors string
