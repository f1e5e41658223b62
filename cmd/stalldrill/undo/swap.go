package undo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"stallmark/cmd/stalldrill/host"
)

// SwapOn makes a device or file of the given size a swap area and switches it
// on, before all others.
func (j *Journal) SwapOn(path string, size int64) error {
	if err := writeSwapHeader(path, size); err != nil {
		return err
	}
	if err := j.add(Entry{Kind: Swap, Path: path}); err != nil {
		return err
	}
	const preferred = 0x8000 | 32767 // SWAP_FLAG_PREFER and the highest priority
	if err := swapCall(unix.SYS_SWAPON, path, preferred); err != nil {
		return fmt.Errorf("swapon %s: %w", path, err)
	}
	return nil
}

// swapOff switches swapping off; an area that is not on is no mistake.
func swapOff(path string) error {
	err := swapCall(unix.SYS_SWAPOFF, path, 0)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

func swapCall(number uintptr, path string, flags uintptr) error {
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(number, uintptr(unsafe.Pointer(name)), flags, 0); errno != 0 {
		return errno
	}
	return nil
}

// writeSwapHeader writes the first page of a swap area (include/linux/swap.h,
// union swap_header): version 1, the last page, and the magic at the page's end.
func writeSwapHeader(path string, size int64) error {
	page := make([]byte, os.Getpagesize())
	binary.NativeEndian.PutUint32(page[1024:], 1)
	binary.NativeEndian.PutUint32(page[1028:], uint32(size/int64(len(page))-1))
	copy(page[len(page)-10:], "SWAPSPACE2")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(page, 0)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// ZRAM sets up a compressed swap device in memory and returns its path. An
// unused device is taken where there is one, else one is added.
func (j *Journal) ZRAM(size int64) (string, error) {
	for _, dir := range j.blockDevices("zram") {
		if v, err := host.Read(filepath.Join(dir, "disksize")); err == nil && v == "0" {
			return j.sizeZRAM(dir, size)
		}
	}
	control := filepath.Join(j.host.Sys, "class/zram-control")
	id, err := host.Read(filepath.Join(control, "hot_add")) // reading it adds a device
	if err != nil {
		return "", fmt.Errorf("no zram device: %w", err)
	}
	if err := j.AddCommand(filepath.Join(control, "hot_remove"), id); err != nil {
		return "", err
	}
	return j.sizeZRAM(filepath.Join(j.host.Sys, "block", "zram"+id), size)
}

func (j *Journal) sizeZRAM(dir string, size int64) (string, error) {
	if err := j.AddCommand(filepath.Join(dir, "reset"), "1"); err != nil {
		return "", err
	}
	if err := host.Write(filepath.Join(dir, "disksize"), fmt.Sprint(size)); err != nil {
		return "", fmt.Errorf("zram: %w", err)
	}
	return filepath.Join("/dev", filepath.Base(dir)), nil
}

func (j *Journal) blockDevices(prefix string) []string {
	entries, _ := os.ReadDir(filepath.Join(j.host.Sys, "block"))
	var dirs []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			dirs = append(dirs, filepath.Join(j.host.Sys, "block", e.Name()))
		}
	}
	return dirs
}
