# Answers with what it was given, so that the gateway sees at every start that
# a data line arrives whole: text character by character, a secret by its length.
[CmdletBinding()]
param(
    [Parameter(Mandatory)] [string] $Text,
    [Parameter(Mandatory)] [securestring] $Secret
)

[ordered]@{ text = [string]$Text; length = [int]$Secret.Length }
