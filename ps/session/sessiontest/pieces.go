package sessiontest

import (
	"bytes"
	"strconv"
)

// Piece is a frame in the output of a process, or the text between two frames.
type Piece struct {
	Bytes []byte
	Kind  string // kind of frame; empty for other text or the rest of a frame
	Head  int    // length of the frame's first line
}

// Pieces splits the output of one write. Each complete frame is a separate piece. The pieces
// share p's memory.
func Pieces(p []byte) []Piece {
	var pieces []Piece
	for len(p) > 0 {
		piece := firstPiece(p)
		pieces = append(pieces, piece)
		p = p[len(piece.Bytes):]
	}
	return pieces
}

func firstPiece(p []byte) Piece {
	if p[0] != 0x1e {
		if at := bytes.IndexByte(p, 0x1e); at > 0 {
			p = p[:at]
		}
		return Piece{Bytes: p}
	}
	head := bytes.IndexByte(p, '\n') + 1
	fields := bytes.Fields(p[:head])
	if len(fields) != 3 { // the head is truncated
		return Piece{Bytes: p}
	}
	size, err := strconv.Atoi(string(fields[2]))
	if end := head + size + 1; err == nil && end <= len(p) {
		p = p[:end]
	}
	return Piece{Bytes: p, Kind: string(fields[1]), Head: head}
}
