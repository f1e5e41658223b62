// Package web is the page: what the person on call sees, and the same as JSON.
//
// A handler reads its window from the URL, asks the [Backend], and returns a
// component or an error; serve renders it into a buffer and turns an error into
// a status, a page and a log line. Nothing here changes anything: only GET and
// HEAD are answered. View models and components are in package view, charts in
// package chart, the text of numbers in package format.
//
// A page is a handler with its JSON twin (routes lists them), a view model, a
// component and a scene in package gallery; CONTRIBUTING.md has the steps.
package web
