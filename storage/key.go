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

// keySeries turns a key back into a series.
func keySeries(key string) (*model.Series, error) {
	name, rest, err := cutText(key)
	if err != nil {
		return nil, err
	}
	s := &model.Series{Name: name}
	for rest != "" {
		var l model.Label
		if l.Name, rest, err = cutText(rest); err != nil {
			return nil, err
		}
		if l.Value, rest, err = cutText(rest); err != nil {
			return nil, err
		}
		s.Labels = append(s.Labels, l)
	}
	return s, nil
}

// keyLabels turns a key into Prometheus labels, the name as __name__.
func keyLabels(key string) (labels.Labels, error) {
	s, err := keySeries(key)
	if err != nil {
		return labels.EmptyLabels(), err
	}
	b := labels.NewScratchBuilder(len(s.Labels) + 1)
	if s.Name != "" {
		b.Add(metricName, s.Name)
	}
	for _, l := range s.Labels {
		b.Add(l.Name, l.Value)
	}
	b.Sort()
	return b.Labels(), nil
}
