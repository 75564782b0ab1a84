package host

import (
	"strings"
	"time"
)

// Volume is what a folder lies on.
type Volume struct {
	FileSystem string // "NTFS", "ext2/ext3"; empty if not known
	Remote     bool   // a share of another computer
	Removable  bool
}

// WriteCache is how a disk keeps what it has not yet written.
type WriteCache struct {
	Enabled bool
	Flushes bool // the disk empties it when told to
	Assured bool // Windows was told that it keeps its content without power, and does not have it emptied
}

// Sleep is how long this computer is idle on mains power before it sleeps; 0 is never.
type Sleep struct{ Standby, Hibernation time.Duration }

// Covers reports whether one of some folders of Windows is a folder or lies above it.
func Covers(folders []string, folder string) bool {
	folder = comparable(folder)
	for _, above := range folders {
		if above = comparable(above); above != "" && (folder == above || strings.HasPrefix(folder, above+`\`)) {
			return true
		}
	}
	return false
}

// comparable returns the path of a folder in the form in which all spellings are equal.
func comparable(path string) string {
	path = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(path), "/", `\`))
	return strings.TrimRight(strings.TrimSuffix(path, `\*`), `\`)
}

// wholeFolders returns those folders that lines of FilesNotToBackup name with all that is in
// them, such as `D:\data\* /s`.
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
