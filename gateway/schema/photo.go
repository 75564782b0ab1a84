package schema

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"adgateway/gateway/attributes"
	"adgateway/gateway/schema/photo"
	"adgateway/ps"
)

// Photo is the kind of an image that is sent in base64: a JPEG or PNG within the limits. The script
// gets the line of [attributes.Photo] with the small image to store, and Text of [Decoded]
// describes that image.
var Photo Kind = photoKind{base{"string[]"}}

// StoredPhoto is a photo from a directory, in base64. [Photo] keeps its bytes, because an undo must
// restore the original.
type StoredPhoto string

type photoKind struct{ base }

func (photoKind) Decode(raw any) (*Decoded, *FieldError) {
	encoded, small := "", false
	switch raw := raw.(type) {
	case StoredPhoto:
		encoded, small = string(raw), true
	case string:
		encoded = raw
	default:
		return nil, invalid("must be text, not %s", jsonType(raw))
	}
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, invalid("is not base64. Send a JPEG or PNG of at most %d bytes in base64, or as the body "+
			"itself with the Content-Type %s or %s", photo.MostIn, photo.JPEG, photo.PNG)
	}
	if !small {
		if data, err = photo.Small(data); err != nil {
			return nil, unprocessable("%s. Send a JPEG or PNG of at most %d bytes and %d pixels",
				err, photo.MostIn, photo.MostPixels)
		}
	}
	return &Decoded{
		Values: []ps.Value{ps.List([]string{attributes.Photo.Line(base64.StdEncoding.EncodeToString(data))})},
		Text:   describe(data),
	}, nil
}

func (photoKind) Doc() Doc {
	text := "JPEG or PNG of at most 1 MiB, in base64."
	return Doc{Type: "string", Format: "byte", Text: text, Example: samplePhoto}
}

// PhotoTypes returns the media types of a body that is itself a value of the kind, or nil if there
// are none.
func PhotoTypes(k Kind) []string {
	if k != Photo {
		return nil
	}
	return []string{photo.JPEG, photo.PNG}
}

// MostPhoto is the size limit of a request with a photo, in bytes.
const MostPhoto = photo.MostIn/3*4 + 64<<10

// describe returns a one-line description of a photo.
func describe(data []byte) string {
	info, err := photo.Describe(data)
	if err != nil {
		return "an unknown form, " + strings.TrimPrefix(info.String(), ", 0 x 0 pixels, ")
	}
	return info.String()
}

// samplePhoto is a PNG of one pixel.
const samplePhoto = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAA" +
	"DElEQVR42mNQSFgAAAHEASFcollRAAAAAElFTkSuQmCC"

// The fields of a photo.
const (
	photoField  = "photo"
	photoType   = "mediaType"
	photoWidth  = "width"
	photoHeight = "height"
	photoBytes  = "bytes"
	photoSHA256 = "sha256"
)

// thumbnailPhoto is the member that holds the fields of a photo. Scripts emit "" if there is no photo, and
// otherwise the user's GUID, a space and the photo in base64.
var thumbnailPhoto = &Packed{Member: attributes.Photo.LDAP, unpack: unpackPhoto}

// unpackPhoto shows an image only if its type cannot carry a script.
func unpackPhoto(text string) (map[string]json.RawMessage, *ps.Warning) {
	if text == "" {
		return nil, nil
	}
	guid, encoded, _ := strings.Cut(text, " ")
	data, err := base64.StdEncoding.DecodeString(encoded)
	info, unknown := photo.Describe(data)
	if err != nil || unknown != nil {
		return nil, &ps.Warning{Code: "photo_unreadable", Target: guid,
			Message: "The stored photo of this user is neither a JPEG nor a PNG; it is not shown."}
	}
	fields := map[string]json.RawMessage{}
	for name, value := range map[string]any{
		photoField: encoded, photoType: info.Type, photoWidth: info.Width, photoHeight: info.Height,
		photoBytes: info.Bytes, photoSHA256: info.SHA256,
	} {
		fields[name], _ = json.Marshal(value) // only strings and numbers
	}
	return fields, nil
}

// ImageOf returns the image of a [UserPhoto] record, and its media type. The image is nil if there
// is none.
func ImageOf(record json.RawMessage) (image []byte, media string, err error) {
	var of struct {
		Photo     []byte // encoding/json decodes it from base64
		MediaType string
	}
	err = json.Unmarshal(record, &of)
	return of.Photo, of.MediaType, err
}

// announcedPhoto returns the description of an announced photo. Changes are shown and stored
// without the image.
func announcedPhoto(encoded string) json.RawMessage {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(data) == 0 {
		return null
	}
	line, _ := json.Marshal(describe(data)) // a string always encodes
	return line
}
