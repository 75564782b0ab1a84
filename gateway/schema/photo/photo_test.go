package photo

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// halves returns an image that is red on the left and blue on the right.
func halves(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{R: 0xff, A: 0xff}
			if x >= w/2 {
				c = color.RGBA{B: 0xff, A: 0xff}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func noise(w, h int) image.Image {
	m, from := image.NewRGBA(image.Rect(0, 0, w, h)), rand.New(rand.NewPCG(1, 2))
	for i := range m.Pix {
		m.Pix[i] = uint8(from.UintN(256))
		if i%4 == 3 {
			m.Pix[i] = 0xff
		}
	}
	return m
}

func asJPEG(t *testing.T, m image.Image) []byte {
	var out bytes.Buffer
	require.NoError(t, jpeg.Encode(&out, m, &jpeg.Options{Quality: 95}))
	return out.Bytes()
}

func asPNG(t *testing.T, m image.Image) []byte {
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, m))
	return out.Bytes()
}

// held adds an Exif part with a camera orientation to a JPEG.
func held(data []byte, order binary.ByteOrder, orientation uint16) []byte {
	tiff := []byte("II\x2a\x00\x08\x00\x00\x00")
	if order == binary.BigEndian {
		tiff = []byte("MM\x00\x2a\x00\x00\x00\x08")
	}
	entry := make([]byte, 14)
	order.PutUint16(entry, 1)
	order.PutUint16(entry[2:], 0x112)
	order.PutUint16(entry[4:], 3)
	order.PutUint32(entry[6:], 1)
	order.PutUint16(entry[10:], orientation)
	part := append(append([]byte("Exif\x00\x00"), tiff...), entry...)
	head := []byte{0xff, 0xd8, 0xff, 0xe1, 0, 0}
	binary.BigEndian.PutUint16(head[4:], uint16(len(part)+2))
	return append(append(head, part...), data[2:]...)
}

// TestPhotosAreMadeSmall: photos of any kind are made small enough, and never enlarged.
func TestPhotosAreMadeSmall(t *testing.T) {
	clear := image.NewNRGBA(image.Rect(0, 0, 300, 100))
	for name, data := range map[string][]byte{
		"JPEG":        asJPEG(t, halves(1200, 900)),
		"PNG":         asPNG(t, halves(640, 480)),
		"noise":       asJPEG(t, noise(500, 500)),
		"tall":        asPNG(t, halves(2, 3000)),
		"one pixel":   asPNG(t, halves(1, 1)),
		"transparent": asPNG(t, clear),
		"palette":     asPNG(t, image.NewPaletted(image.Rect(0, 0, 40, 40), color.Palette{color.White, color.Black})),
		"16 bits":     asPNG(t, image.NewNRGBA64(image.Rect(0, 0, 30, 30))),
	} {
		t.Run(name, func(t *testing.T) {
			was, err := Describe(data)
			require.NoError(t, err)
			small, err := Small(data)
			require.NoError(t, err)
			info, err := Describe(small)
			require.NoError(t, err)
			assert.Equal(t, JPEG, info.Type)
			assert.LessOrEqual(t, len(small), MostOut)
			assert.LessOrEqual(t, max(info.Width, info.Height), min(192, max(was.Width, was.Height)))
			again, err := Small(data)
			require.NoError(t, err)
			assert.Equal(t, small, again, "one image gives one photo")
		})
	}
	small, err := Small(asPNG(t, clear))
	require.NoError(t, err)
	m, err := jpeg.Decode(bytes.NewReader(small))
	require.NoError(t, err)
	r, _, _, _ := m.At(5, 5).RGBA()
	assert.Greater(t, r, uint32(0xf000), "what is transparent is white")
}

// TestPhotosAreUpright: photos are stored upright for every camera orientation, and nothing but
// pixels is stored.
func TestPhotosAreUpright(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for orientation, red := range map[uint16]image.Point{
			1: {2, 20}, 2: {117, 20}, 3: {117, 20}, 4: {2, 20}, 5: {20, 2}, 6: {20, 2}, 7: {20, 117}, 8: {20, 117},
		} {
			data := held(asJPEG(t, halves(120, 40)), order, orientation)
			small, err := Small(data)
			require.NoError(t, err)
			assert.NotContains(t, string(small), "Exif")
			m, err := jpeg.Decode(bytes.NewReader(small))
			require.NoError(t, err)
			r, _, b, _ := m.At(red.X, red.Y).RGBA()
			assert.Greater(t, r, uint32(0xc000), "orientation %d", orientation)
			assert.Less(t, b, uint32(0x4000), "orientation %d", orientation)
		}
	}
}

// TestInvalidPhotosAreRefused: anything but a valid photo is refused with the matching error.
func TestInvalidPhotosAreRefused(t *testing.T) {
	whole := asPNG(t, halves(64, 64))
	wide := bytes.Clone(whole)
	binary.BigEndian.PutUint32(wide[16:], 1<<30) // a width that does not match its checksum
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"nothing":    {nil, ErrType},
		"text":       {[]byte("hello"), ErrType},
		"GIF":        {[]byte("GIF89a\x01\x00\x01\x00"), ErrType},
		"SVG":        {[]byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), ErrType},
		"cut off":    {whole[:len(whole)-20], ErrBroken},
		"head only":  {[]byte("\xff\xd8\xff"), ErrBroken},
		"wrong head": {wide, ErrBroken},
		"too large":  {make([]byte, MostIn+1), ErrSize},
		"bomb":       {asPNG(t, image.NewGray(image.Rect(0, 0, 4001, 3000))), ErrPixels},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Small(c.data)
			assert.ErrorIs(t, err, c.want)
		})
	}
}

func FuzzSmall(f *testing.F) {
	var out bytes.Buffer
	_ = jpeg.Encode(&out, halves(9, 9), nil) // an image always encodes
	f.Add(out.Bytes())
	f.Add(held(out.Bytes(), binary.BigEndian, 6))
	f.Fuzz(func(t *testing.T, data []byte) {
		if small, err := Small(data); err == nil {
			assert.LessOrEqual(t, len(small), MostOut)
		}
	})
}
