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
	Assured bool // Windows has been told that the cache survives a power failure, so it requests no flushes
}

// Sleep contains the idle times on mains power after which this computer sleeps; 0 means never.
type Sleep struct{ Standby, Hibernation time.Duration }

// Covers reports whether folder is one of the given Windows folders, or inside one of them.
func Covers(folders []string, folder string) bool {
	folder = comparable(folder)
	for _, above := range folders {
		if above = comparable(above); above != "" && (folder == above || strings.HasPrefix(folder, above+`\`)) {
			return true
		}
	}
	return false
}

// comparable returns a canonical form of a folder's path, for comparisons.
func comparable(path string) string {
	path = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(path), "/", `\`))
	return strings.TrimRight(strings.TrimSuffix(path, `\*`), `\`)
}

// wholeFolders returns the folders that lines of FilesNotToBackup, such as `D:\data\* /s`, exclude with their
// whole content.
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
