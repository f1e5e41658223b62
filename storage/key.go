package storage

import (
	"encoding/binary"
	"errors"

	"github.com/prometheus/prometheus/model/labels"

	"stallmark/storage/model"
)

// A series key is the series' identity in binary: its name and then each label
// name and value, every text preceded by its length. Unlike a text with
// separators it stays unique whatever bytes a process or device puts into a
// label.

// maxLabelBytes bounds one text of a decoded key.
const maxLabelBytes = 1 << 16

var errBadKey = errors.New("malformed series key")

// appendKey appends the key of s to dst.
func appendKey(dst []byte, s *model.Series) []byte {
	dst = appendText(dst, s.Name)
	for _, l := range s.Labels {
		dst = appendText(appendText(dst, l.Name), l.Value)
	}
	return dst
}

// appendText appends a text preceded by its length.
func appendText(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

// cutText takes a text and its length off the front of key.
func cutText(key string) (text, rest string, err error) {
	n, size := uvarint(key)
	if size <= 0 || n > maxLabelBytes || n > uint64(len(key)-size) {
		return "", "", errBadKey
	}
	return key[size : size+int(n)], key[size+int(n):], nil
}

// uvarint is binary.Uvarint on a string.
func uvarint(s string) (uint64, int) {
	var b [binary.MaxVarintLen64]byte
	return binary.Uvarint(b[:copy(b[:], s)])
}

// keyLabels turns a key into Prometheus labels, the name as __name__.
func keyLabels(key string) (labels.Labels, error) {
	name, rest, err := cutText(key)
	if err != nil {
		return labels.EmptyLabels(), err
	}
	b := labels.NewScratchBuilder(8)
	if name != "" {
		b.Add(labels.MetricName, name)
	}
	for rest != "" {
		var l, v string
		if l, rest, err = cutText(rest); err != nil {
			return labels.EmptyLabels(), err
		}
		if v, rest, err = cutText(rest); err != nil {
			return labels.EmptyLabels(), err
		}
		b.Add(l, v)
	}
	b.Sort()
	return b.Labels(), nil
}
