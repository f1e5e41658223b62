package snapshot

import (
	"bytes"
	"encoding/base64"
	"fmt"
)

// A page that is exported holds the archive between these marks, in base64. A
// browser takes it for data and leaves it alone.
const (
	HTMLOpen  = `<script type="application/vnd.stallmark+zstd" id="stallmark-archive">`
	HTMLClose = `</script>`
)

// FromHTML gives the archive that an exported page holds, or data itself if it
// is no page.
func FromHTML(data []byte) ([]byte, error) {
	head := bytes.TrimSpace(data[:min(len(data), 64)])
	if !bytes.HasPrefix(bytes.ToLower(head), []byte("<!doctype html")) {
		return data, nil
	}
	_, rest, ok := bytes.Cut(data, []byte(HTMLOpen))
	text, _, closed := bytes.Cut(rest, []byte(HTMLClose))
	if !ok || !closed {
		return nil, fmt.Errorf("a page without a snapshot in it: %w", ErrNot)
	}
	out, err := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil {
		return nil, fmt.Errorf("the snapshot in the page: %w: %w", errDamaged, err)
	}
	return out, nil
}
