package logs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The file in which positions are kept between runs: a line with the version
// and the checksum of what follows, then JSON. Whatever is wrong with it, all of
// it is dropped, and every log is read as if it were seen for the first time.
const (
	stateVersion = "stallmark-logs-1"
	maxState     = 4 << 20 // bytes
	maxPositions = 10_000
)

// ErrState is wrapped by errors about a file of positions that is damaged.
var ErrState = errors.New("damaged file of log positions")

// EncodeState writes positions.
func EncodeState(positions []Position) ([]byte, error) {
	body, err := json.Marshal(positions[:min(len(positions), maxPositions)])
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%s %016x\n%s\n", stateVersion, sum(body), body), nil
}

// DecodeState reads what EncodeState has written.
func DecodeState(data []byte) ([]Position, error) {
	head, body, ok := bytes.Cut(data, []byte{'\n'})
	version, check, two := bytes.Cut(head, []byte{' '})
	if !ok || !two || string(version) != stateVersion {
		return nil, fmt.Errorf("%w: does not begin with %q", ErrState, stateVersion)
	}
	body = bytes.TrimSuffix(body, []byte{'\n'})
	if want, err := strconv.ParseUint(string(check), 16, 64); err != nil || want != sum(body) {
		return nil, fmt.Errorf("%w: checksum", ErrState)
	}
	var positions []Position
	if err := json.Unmarshal(body, &positions); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	if len(positions) > maxPositions {
		return nil, fmt.Errorf("%w: %d positions", ErrState, len(positions))
	}
	for _, p := range positions {
		if !p.sane() {
			return nil, fmt.Errorf("%w: %s at %d", ErrState, p.Log, p.Offset)
		}
	}
	return positions, nil
}

// LoadState reads the file of positions; none is no error.
func LoadState(path string) ([]Position, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxState {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrState, maxState)
	}
	return DecodeState(data)
}

// spare is the name of what the file of positions was before, and is next.
func spare(path string) string { return path + ".spare" }

// SaveState replaces the file of positions. It is whole at any time, but not
// synced: it has to survive the process, and after a crash of the host it may be
// that of some seconds ago. Two files take turns, since ext4 writes a new file to
// the disk at once when it is renamed over another (auto_da_alloc in ext4(5)), and
// that every time.
func SaveState(path string, data []byte) error {
	f, err := os.OpenFile(spare(path), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Truncate(int64(len(data))), f.Close()); err != nil {
		return err
	}
	err = unix.Renameat2(unix.AT_FDCWD, spare(path), unix.AT_FDCWD, path, unix.RENAME_EXCHANGE)
	if err != nil { // the first time, and where the file system cannot
		return os.Rename(spare(path), path)
	}
	return nil
}
