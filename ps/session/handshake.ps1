# Returns the text and the length of the secret, so that the gateway can check at every start that data lines
# arrive unchanged.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Text,
    [Parameter(Mandatory)] [securestring] $Secret
)

[ordered]@{ text = [string]$Text; length = [int]$Secret.Length }
