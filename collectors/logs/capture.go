package logs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"
	"time"

	"stallmark/collectors"
	"stallmark/storage/model"
)

// chunk is a piece of a log in a recording: whole lines, but for the rest of
// overlong ones.
type chunk struct {
	Data    int    `json:"data"` // number of the file with its bytes
	Path    string `json:"path"`
	Kind    Kind   `json:"kind"`
	Process string `json:"process,omitempty"`
	Pid     int    `json:"pid,omitempty"`
	Role    string `json:"role,omitempty"`
	Start   uint64 `json:"start,omitempty"` // clock ticks after boot
	Zone    string `json:"zone,omitempty"`
	Format  Format `json:"format,omitempty"`
	Part    string `json:"part"`
	Offset  int64  `json:"offset"`
	Live    bool   `json:"live,omitempty"` // written in this beat
}

// index is what a beat of a recording says of its logs.
type index struct {
	Chunks []chunk `json:"chunks"`
	Left   int64   `json:"left_out,omitempty"` // bytes for which there was no room
}

// Names of a recording's files.
const (
	indexName  = "logs/index"
	dataPrefix = "logs/"
)

// Bounds of what a recording holds, in bytes of logs.
const (
	maxBeatBytes  = 2 << 20
	maxTotalBytes = 128 << 20
	maxChunks     = 2000 // in a beat
)

// Capture gathers what is followed, for a recording.
type Capture struct {
	mu    sync.Mutex
	index index
	data  [][]byte
	beat  int
	total int
}

// Tap is for [Config].
func (c *Capture) Tap(f *File, part string, offset int64, data []byte, live bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.beat+len(data) > maxBeatBytes || c.total+len(data) > maxTotalBytes || len(c.data) >= maxChunks {
		c.index.Left += int64(len(data))
		return
	}
	c.beat += len(data)
	c.total += len(data)
	if n := len(c.index.Chunks); n > 0 {
		last := &c.index.Chunks[n-1]
		if last.Path == f.Path && last.Process == f.Process && last.Part == part && last.Live == live && last.Offset+int64(len(c.data[n-1])) == offset {
			c.data[n-1] = append(c.data[n-1], data...)
			return
		}
	}
	c.index.Chunks = append(c.index.Chunks, chunk{
		Data: len(c.data), Path: f.Path, Kind: f.Kind, Process: f.Process, Pid: f.Pid, Role: f.Role, Start: f.Start, Zone: f.Zone, Format: f.Format,
		Part: part, Offset: offset, Live: live,
	})
	c.data = append(c.data, append([]byte{}, data...))
}

// Put hands over what has come since it was last called, by name, for one beat
// of a recording.
func (c *Capture) Put(put func(name string, data []byte)) error {
	c.mu.Lock()
	ix, data := c.index, c.data
	c.index, c.data, c.beat = index{}, nil, 0
	c.mu.Unlock()
	if len(data) == 0 && ix.Left == 0 {
		return nil
	}
	text, err := json.Marshal(ix)
	if err != nil {
		return fmt.Errorf("record logs: %w", err)
	}
	for i, d := range data {
		put(dataPrefix+strconv.Itoa(i), d)
	}
	put(indexName, text)
	return nil
}

// Replay feeds the logs of a recording to their consumers, beat by beat.
type Replay struct {
	source *Source
	logs   map[string]*feeder
	files  []Status
	left   int64
	damage error
	boot   time.Time
}

// Replay makes the source read the logs of a recording from the root of each
// beat.
func (s *Source) Replay() {
	s.replay = &Replay{source: s, logs: map[string]*feeder{}}
}

// beat feeds what the tick at hand has.
func (r *Replay) beat(root collectors.Root) {
	if root == nil {
		return
	}
	if r.boot.IsZero() {
		if r.boot = r.source.cfg.Boot; r.boot.IsZero() {
			r.boot = BootTime(root)
		}
		r.source.cfg.Boot = r.boot
	}
	text, err := root.Read(indexName, nil)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			r.damage = err
		}
		return
	}
	var ix index
	if err := json.Unmarshal(text, &ix); err != nil {
		r.damage = fmt.Errorf("%s: %w", indexName, err)
		return
	}
	r.left += ix.Left
	for _, c := range ix.Chunks {
		data, err := root.Read(dataPrefix+strconv.Itoa(c.Data), nil)
		if err != nil {
			r.damage = err
			continue
		}
		r.feed(c, data)
	}
}

func (r *Replay) feed(c chunk, data []byte) {
	key := c.Process + "\x00" + strconv.Itoa(c.Pid) + "\x00" + c.Path
	f := r.logs[key]
	if f == nil {
		if len(r.logs) >= maxStreams {
			return
		}
		file := &File{Path: c.Path, Kind: c.Kind, Process: c.Process, Pid: c.Pid, Role: c.Role, Start: c.Start, Zone: c.Zone, Format: c.Format}
		f = newFeeder(file, r.source.Open(file))
		f.framer.boot = r.source.cfg.Boot
		r.logs[key] = f
		r.files = append(r.files, Status{File: file, Found: true})
	}
	f.live = c.Live
	f.feed(data, c.Part, c.Offset, true)
	for i := range r.files {
		if r.files[i].File == f.file {
			r.files[i].Bytes += int64(len(data))
		}
	}
}

// state gives the series of every log of the recording.
func (r *Replay) state(s *Source, out *collectors.Out) error {
	for _, st := range r.files {
		out.Cover(coverageOf(st))
		s.emit(out, st)
	}
	s.emitZeros(out, r.files)
	switch {
	case r.damage != nil:
		return &collectors.Gap{State: model.SourceFailed, Detail: "logs of the recording: " + r.damage.Error()}
	case r.left > 0:
		return collectors.Partial(fmt.Sprintf("%d bytes of logs were left out of the recording: there was no room", r.left), "")
	case len(r.files) == 0:
		return collectors.Absent("the recording holds no logs", "record while the broker runs, or give its log files as well")
	}
	return nil
}
