package host

import (
	"strings"
	"time"
)

// Volume is the volume that holds a folder.
type Volume struct {
	FileSystem string // "NTFS", "ext2/ext3"; empty if unknown
	Remote     bool   // a share on another computer
	Removable  bool
}

// WriteCache describes how a disk caches writes.
type WriteCache struct {
	Enabled bool
	Flushes bool // the disk flushes it on request
	Assured bool // Windows was told that the cache survives a power failure, so it requests no flushes
}

// Sleep contains the idle times on mains power after which this computer sleeps; 0 means never.
type Sleep struct{ Standby, Hibernation time.Duration }

// Covers reports whether folder is one of the given folders of Windows, or lies below one.
func Covers(folders []string, folder string) bool {
	folder = comparable(folder)
	for _, above := range folders {
		if above = comparable(above); above != "" && (folder == above || strings.HasPrefix(folder, above+`\`)) {
			return true
		}
	}
	return false
}

// comparable returns a form of a folder's path that is the same for all spellings.
func comparable(path string) string {
	path = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(path), "/", `\`))
	return strings.TrimRight(strings.TrimSuffix(path, `\*`), `\`)
}

// wholeFolders returns the folders that lines of FilesNotToBackup exclude with their whole
// content, such as `D:\data\* /s`.
func wholeFolders(lines []string) (folders []string) {
	for _, line := range lines {
		path, all := strings.CutSuffix(strings.ToLower(strings.TrimSpace(line)), "/s")
		path = strings.TrimSpace(path)
		if folder, found := strings.CutSuffix(strings.TrimSuffix(path, ".*"), `\*`); all && found {
			folders = append(folders, folder)
		}
	}
	return folders
}
