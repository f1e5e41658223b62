package host

import (
	"path/filepath"

	"golang.org/x/sys/unix"
)

// LiveStatfs makes the function that [Config] wants for the running host, whose
// / is seen at rootfs (another place than / inside a container).
func LiveStatfs(rootfs string) func(path string) (FileSystem, error) {
	return func(path string) (FileSystem, error) {
		var s unix.Statfs_t
		if err := unix.Statfs(filepath.Join(rootfs, path), &s); err != nil {
			return FileSystem{}, err
		}
		unit := float64(s.Frsize) // Blocks and Bavail count in these, not in Bsize
		if unit == 0 {            // file systems that leave it out
			unit = float64(s.Bsize)
		}
		return FileSystem{
			SizeBytes:  float64(s.Blocks) * unit,
			AvailBytes: float64(s.Bavail) * unit,
			Files:      float64(s.Files),
			FilesFree:  float64(s.Ffree),
		}, nil
	}
}
