// Package photo turns images that people send into small pictures of accounts. It always encodes the pixels
// again, so nothing but the pixels of the sent image reaches the directory.
package photo

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"sync"
)

// The limits.
const (
	MostIn     = 1 << 20    // bytes of a sent image
	MostOut    = 10_000     // bytes of a stored image
	MostPixels = 12_000_000 // pixels of a sent image
)

// The media types of images that can be read.
const (
	JPEG = "image/jpeg"
	PNG  = "image/png"
)

// The faults of an image. Their texts contain no part of it.
var (
	ErrType   = errors.New("is neither a JPEG nor a PNG")
	ErrSize   = fmt.Errorf("is larger than %d bytes", MostIn)
	ErrPixels = fmt.Errorf("has more than %d pixels", MostPixels)
	ErrBroken = errors.New("is a JPEG or PNG that cannot be read to its end")
)

// Info describes an image.
type Info struct {
	Type          string // its media type
	Width, Height int
	Bytes         int
	SHA256        string // in hexadecimal digits
}

// String returns the description in one line.
func (i Info) String() string {
	return fmt.Sprintf("%s, %d x %d pixels, %d bytes, SHA-256 %s", i.Type, i.Width, i.Height, i.Bytes, i.SHA256)
}

// Describe returns the description of an image. It reads only the head of the image. The error is
// [ErrType] or [ErrBroken].
func Describe(data []byte) (Info, error) {
	sum := sha256.Sum256(data)
	info := Info{Bytes: len(data), SHA256: hex.EncodeToString(sum[:])}
	head := png.DecodeConfig
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		info.Type, head = JPEG, jpeg.DecodeConfig
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		info.Type = PNG
	default:
		return info, ErrType
	}
	found, err := head(bytes.NewReader(data))
	if err != nil || found.Width <= 0 || found.Height <= 0 {
		return info, ErrBroken
	}
	info.Width, info.Height = found.Width, found.Height
	return info, nil
}

// one keeps requests from decoding in parallel, because a decoded image takes up to a hundred times
// the memory of its file.
var one sync.Mutex

// Small returns an image as an upright JPEG of at most [MostOut] bytes. It never enlarges the picture. The
// error is one of those above. It is safe for concurrent use.
func Small(data []byte) ([]byte, error) {
	if len(data) > MostIn {
		return nil, ErrSize
	}
	info, err := Describe(data)
	if err != nil {
		return nil, err
	}
	if info.Width > MostPixels/info.Height {
		return nil, ErrPixels
	}
	one.Lock()
	defer one.Unlock()
	decode, turned := png.Decode, 1
	if info.Type == JPEG {
		decode, turned = jpeg.Decode, orientation(data)
	}
	decoded, err := decode(bytes.NewReader(data))
	if err != nil {
		return nil, ErrBroken
	}
	return encode(decoded, turned)
}

// encode tries smaller pictures and lower qualities until one is small enough.
func encode(from image.Image, turned int) ([]byte, error) {
	for _, edge := range []int{192, 144, 96, 64} {
		picture := upright(shrink(from, edge), turned)
		for _, quality := range []int{90, 80, 70, 60} {
			var out bytes.Buffer
			if err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: quality}); err != nil {
				return nil, ErrBroken
			}
			if out.Len() <= MostOut {
				return out.Bytes(), nil
			}
		}
	}
	return nil, ErrBroken // even pure noise of 64 by 64 pixels takes only 6 kB at quality 60
}

// shrink scales an image to at most edge pixels on its longer edge, on white. Each pixel is the
// mean of the pixels that it replaces.
func shrink(from image.Image, edge int) *image.RGBA {
	b := from.Bounds()
	w, h := b.Dx(), b.Dy()
	if longest := max(w, h); longest > edge {
		w, h = max(1, w*edge/longest), max(1, h*edge/longest)
	}
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(to, to.Bounds(), image.White, image.Point{}, draw.Src)
	for y := range h {
		y0, y1 := b.Min.Y+y*b.Dy()/h, b.Min.Y+(y+1)*b.Dy()/h
		for x := range w {
			x0, x1 := b.Min.X+x*b.Dx()/w, b.Min.X+(x+1)*b.Dx()/w
			to.SetRGBA(x, y, mean(from, image.Rect(x0, y0, x1, y1)))
		}
	}
	return to
}

// mean returns the mean color of a part of an image, on white.
func mean(of image.Image, part image.Rectangle) color.RGBA {
	var r, g, b, a, n uint64
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			pr, pg, pb, pa := of.At(x, y).RGBA() // premultiplied
			r, g, b, a, n = r+uint64(pr), g+uint64(pg), b+uint64(pb), a+uint64(pa), n+1
		}
	}
	white := 0xffff*n - a
	part8 := func(sum uint64) uint8 { return uint8((sum + white) / n >> 8) }
	return color.RGBA{part8(r), part8(g), part8(b), 0xff}
}

// upright turns a picture according to its Exif orientation, 1 to 8.
func upright(from *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return from
	}
	w, h := from.Rect.Dx(), from.Rect.Dy()
	tw, th := w, h
	if orientation >= 5 {
		tw, th = h, w
	}
	to := image.NewRGBA(image.Rect(0, 0, tw, th))
	for y := range th {
		for x := range tw {
			fx, fy := source(x, y, w, h, orientation)
			to.SetRGBA(x, y, from.RGBAAt(fx, fy))
		}
	}
	return to
}

// source returns the pixel of a w by h picture that the upright picture shows at x, y.
func source(x, y, w, h, orientation int) (int, int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	}
	return x, y
}
