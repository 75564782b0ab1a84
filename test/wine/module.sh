# The package of the PowerShell module is installed, replaced by a later version, and removed. Sourced by
# wine.sh.
modules="$drive/Program Files/WindowsPowerShell/Modules/AdGateway"

title "The module's MSI installs the files"
installer 0 /i "$(winepath -w "$out/tmp/AdGateway-v1.0.0.msi")"
for file in AdGateway.psd1 AdGateway.psm1 AdGateway.format.ps1xml en-US/about_AdGateway.help.txt; do
    [ -s "$modules/1.0.0/$file" ] || fail "$file is missing"
done

title "A later version takes its place"
installer 0 /i "$(winepath -w "$out/tmp/AdGateway-v1.1.0.msi")"
[ -s "$modules/1.1.0/AdGateway.psd1" ] || fail "1.1.0 is missing"
[ ! -e "$modules/1.0.0" ] || fail "1.0.0 is still there"

title "An earlier version is refused"
installer 67 /i "$(winepath -w "$out/tmp/AdGateway-v1.0.0.msi")"

title "Removal leaves nothing"
installer 0 /x "$(winepath -w "$out/tmp/AdGateway-v1.1.0.msi")"
[ -z "$(ls -A "$modules" 2>/dev/null)" ] || fail "files are still there" # Wine leaves the empty folder
