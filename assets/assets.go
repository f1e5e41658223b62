// Package assets holds the page's style sheet, script and icon, written by hand
// and served as they are.
package assets

import "embed"

// FS has the files by their names.
//
//go:embed stallmark.css stallmark.js icon.svg
var FS embed.FS
