package storage

import (
	"context"
	"slices"

	"go.etcd.io/bbolt"
)

// stateNote is a value that is kept under a name, the latest alone.
type stateNote struct {
	Name  string `json:"name"`
	Value []byte `json:"value"`
}

// stateKey is where it stands among what is kept about the file.
func stateKey(name string) []byte { return []byte("state:" + name) }

// PutState keeps a value under a name, in place of the one before: what the
// rules have learned, for instance.
func (s *Store) PutState(name string, value []byte) {
	s.states.Store(name, slices.Clone(value))
	s.post(note{State: &stateNote{name, value}})
}

// State is the value that is kept under a name, nil if there is none. It says
// [ErrPartial] if the file could not be asked.
func (s *Store) State(ctx context.Context, name string) ([]byte, error) {
	if v, ok := s.states.Load(name); ok {
		return v.([]byte), nil
	}
	if s.client == nil {
		return nil, nil
	}
	var a stateNote
	if err := s.askJSON(ctx, question{Topic: askState, ID: name}, &a); err != nil {
		return nil, partialError(err)
	}
	return a.Value, nil
}

func (d *disk) stateNamed(name string) (value []byte, err error) {
	err = d.view(func(tx *bbolt.Tx) error {
		value = slices.Clone(tx.Bucket(bucketMeta).Get(stateKey(name)))
		return nil
	})
	return value, err
}

// stateNamed answers with a kept value.
func (r *recorder) stateNamed(name string) (stateNote, error) {
	for _, n := range slices.Backward(r.recent()) {
		if n.State != nil && n.State.Name == name {
			return *n.State, nil
		}
	}
	v, err := r.disk.stateNamed(name)
	return stateNote{name, v}, err
}
