package photo

import (
	"bytes"
	"encoding/binary"
)

// orientation returns the camera orientation, 1 to 8, from the Exif part of a JPEG, or 1 if there
// is none.
func orientation(data []byte) int {
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		marker, size := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
		end := at + 2 + size
		if marker == 0xda || size < 2 || end > len(data) { // the pixel data begins
			return 1
		}
		if part := data[at+4 : end]; marker == 0xe1 && bytes.HasPrefix(part, []byte("Exif\x00\x00")) {
			return orientationIn(part[6:])
		}
		at = end
	}
	return 1
}

// orientationIn reads the first directory of a TIFF header.
func orientationIn(tiff []byte) int {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case len(tiff) < 8:
		return 1
	case bytes.HasPrefix(tiff, []byte("MM")):
		order = binary.BigEndian
	}
	const (
		entrySize      = 12
		orientationTag = 0x112
	)
	first := int64(order.Uint32(tiff[4:]))
	if first+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[first+2:]
	for range order.Uint16(tiff[first:]) {
		if len(entries) < entrySize {
			return 1
		}
		if order.Uint16(entries) == orientationTag {
			if found := int(order.Uint16(entries[8:])); found >= 1 && found <= 8 {
				return found
			}
			return 1
		}
		entries = entries[entrySize:]
	}
	return 1
}
