package logs

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Kernel reads the kernel's log as it is written, from /dev/kmsg: one record a
// read(2) (Documentation/ABI/testing/dev-kmsg). It begins at the end.
type Kernel struct {
	path   string
	feeder *feeder
	file   *File
	tap    tapFunc

	mu      sync.Mutex
	problem error
	bytes   int64
	lost    int64 // times that records were overwritten before they were read
	opened  bool
}

// NewKernel makes a reader of the device at path; boot is when the host started.
func NewKernel(path string, boot time.Time, open func(*File) Consumer, tap func(f *File, part string, offset int64, data []byte, live bool)) *Kernel {
	file := &File{Path: path, Kind: KindKernel, Format: FormatKernelRing}
	k := &Kernel{path: path, file: file, feeder: newFeeder(file, open(file)), tap: tap}
	k.feeder.framer.boot = boot
	k.feeder.live = true
	return k
}

// kernelRetry is how long to wait before a device that failed is opened again.
const kernelRetry = 30 * time.Second

// maxRecord is the longest record of the kernel, with room (PRINTK_MESSAGE_MAX).
const maxRecord = 16 << 10

// Run reads until ctx ends.
func (k *Kernel) Run(ctx context.Context) {
	for ctx.Err() == nil {
		f, err := k.open()
		if err == nil {
			stop := context.AfterFunc(ctx, func() { f.Close() })
			err = k.read(f)
			stop()
			f.Close()
		}
		k.note(err)
		select {
		case <-ctx.Done():
		case <-time.After(kernelRetry):
		}
	}
}

func (k *Kernel) open() (*os.File, error) {
	fd, err := unix.Open(k.path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: k.path, Err: err}
	}
	f := os.NewFile(uintptr(fd), k.path)
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		f.Close()
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.opened, k.problem = true, nil
	return f, nil
}

// read hands on records until it fails. Records that were overwritten before
// they were read (EPIPE) are counted and passed over.
func (k *Kernel) read(f *os.File) error {
	buf := make([]byte, maxRecord)
	for {
		n, err := f.Read(buf)
		if errors.Is(err, unix.EPIPE) {
			k.mu.Lock()
			k.lost++
			k.mu.Unlock()
			continue
		}
		if err != nil {
			return err
		}
		k.take(buf[:n])
	}
}

// take hands on one record.
func (k *Kernel) take(record []byte) {
	k.mu.Lock()
	offset := k.bytes
	k.bytes += int64(len(record))
	k.mu.Unlock()
	if k.tap != nil {
		k.tap(k.file, "", offset, record, true)
	}
	k.feeder.feed(record, "", offset, true)
}

func (k *Kernel) note(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.problem = err
}

// Status tells how it stands.
func (k *Kernel) Status() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return Status{
		File: k.file, Target: Target{What: "kernel log", Folder: "/dev", Names: []string{"kmsg"}, Mend: "run where /dev/kmsg is, or name a file with the kernel's log with --log PATH,kind=kernel"},
		Problem: k.problem, Found: k.opened && k.problem == nil, Bytes: k.bytes,
	}
}
