package matrix

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Results is a file of verdicts, a line of JSON each, so that a matrix can be
// made in pieces.
type Results struct {
	Earlier Matrix // what was in the file
	file    *os.File
}

// OpenResults reads the verdicts of earlier pieces and gets ready to append to
// them. A file that is not there is made.
func OpenResults(path string) (*Results, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	m, err := readResults(path, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Results{Earlier: m, file: f}, nil
}

// readResults reads all lines. One that is no verdict is an error that names it.
func readResults(path string, r io.Reader) (m Matrix, err error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var v Verdict
		err := json.Unmarshal(line, &v)
		if err == nil && v.Mode == "" {
			err = errors.New("no mode is named")
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: want a verdict of stalldrill matrix as a line of JSON: %w", path, n, err)
		}
		m = append(m, v)
	}
	return m, nil
}

// Add appends a verdict.
func (r *Results) Add(v Verdict) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = r.file.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (r *Results) Close() error { return r.file.Close() }
