package config

import (
	"path/filepath"
	"reflect"
)

// ResolvePaths joins the folder with each relative path that the file gave. Paths from other sources remain
// relative to the working directory. from maps each setting's key to its origin.
func (s *Settings) ResolvePaths(from map[string]Origin, folder string) {
	for _, row := range Rows() {
		if from[row.Key] == FromFile {
			resolve(row.in(s), row.path, folder)
		}
	}
	if from["cluster.keyFile"] == FromFile {
		resolve(reflect.ValueOf(&s.Former.KeyFile).Elem(), true, folder)
	}
}

// resolve joins the folder with a path, with each of a list, or with those in each record of a list.
func resolve(v reflect.Value, isPath bool, folder string) {
	switch {
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			resolve(v.Index(i), isPath, folder)
		}
	case v.Kind() == reflect.Struct:
		for _, part := range partsOf(v) {
			resolve(part.value, part.tag.Get("is") == "path", folder)
		}
	case isPath && v.String() != "" && v.String() != AuditOff && !filepath.IsAbs(v.String()):
		v.SetString(filepath.Join(folder, v.String()))
	}
}
