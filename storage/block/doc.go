// Package block is the compressed form of one span of many series: one time
// column, and for each series a column of values.
//
// A block is a head and a number of frames:
//
//	version  1 byte
//	length   4 bytes, little endian, of the head
//	checksum 4 bytes, CRC-32C of the head
//	head     times, series ids, and a directory of the frames
//	frames   each some hundred columns, compressed with zstd
//
// A reader that wants few series decompresses only the frames that hold them.
// Every float64 comes back with the bits that it had, end markers, negative
// zeros and other NaNs included.
//
// What comes from a disk may be damaged: decoding checks every length before it
// allocates, and never panics.
package block
