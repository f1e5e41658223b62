// Package view holds the view models of the pages, built by plain functions
// from the vocabulary of package model, and the templ components that show
// them. Components make no decisions that a builder could make.
//
// Text that came from the kernel, from processes or from logs is hostile: templ
// escapes it, and format.Clean makes hidden characters visible.
package view
