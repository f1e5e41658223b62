package storage

import (
	"errors"
	"os"

	"stallmark/storage/model"
)

// replay reads the journals that an earlier child has left, so that their
// segments go on as if it had not ended.
func (r *recorder) replay() error {
	p, err := r.disk.progress()
	if err != nil {
		return err
	}
	r.head.after, r.head.fresh = p.Last, p.Fresh
	r.segs.next = p.Journal + 1
	files, err := findJournals(r.segs.path)
	if err != nil {
		return err
	}
	for _, file := range files {
		r.segs.next = max(r.segs.next, file.number+1)
		if file.number <= p.Journal {
			os.Remove(file.path) // it is in the file; best effort, this is tried again
			continue
		}
		if err := r.replayFile(file); err != nil {
			return err
		}
	}
	return nil
}

// replayFile reads one journal up to its end or to where it is torn.
func (r *recorder) replayFile(file journalFile) error {
	to := &replayed{r: r}
	err := readJournal(file.path, to)
	if err != nil && !errors.Is(err, errTorn) {
		return err
	}
	if err != nil {
		r.disk.say("journal " + file.path + " is read up to where it is torn: " + err.Error())
	}
	if to.records == 0 {
		os.Remove(file.path) // nothing in it
		return nil
	}
	seg := to.settle()
	seg.journals = append(seg.journals, file)
	return nil
}

// replayed takes the records of one journal. All are of one segment, which its
// first beat tells: notes wait for that.
type replayed struct {
	r       *recorder
	records int
	beats   int
	notes   [][]byte
}

func (p *replayed) beat(b model.Batch, fresh bool) {
	p.records++
	p.beats++
	p.r.segs.beat(b, fresh)
	p.settle()
}

func (p *replayed) note(b []byte) {
	p.records++
	p.notes = append(p.notes, b)
	if p.beats > 0 {
		p.settle()
	}
}

// settle gives the notes that wait to the segment.
func (p *replayed) settle() *segment {
	seg := p.r.segs.last()
	for _, b := range p.notes {
		p.r.addNote(seg, b)
	}
	p.notes = nil
	return seg
}
