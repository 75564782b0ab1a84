// Package look contains the colors that the console, the manual and the home page share, for light and dark
// themes.
package look

import _ "embed"

// Colors is the style sheet that defines the colors as properties of the root element.
//
//go:embed colors.css
var Colors string
